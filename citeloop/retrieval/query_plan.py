"""The queries of a run, and what a trace tells of how they came about."""

from collections.abc import Iterable, Sequence

from citeloop.retrieval.query_replies import ReadQueries
from citeloop.state.graph_state import Query
from citeloop.state.models import QueryOrigin
from citeloop.state.multi_query_state import MultiQueryTrace


def queries_of(texts: Iterable[str], origin: QueryOrigin) -> list[Query]:
    """One query for each text, in their order."""
    return [Query(text=text, origin=origin) for text in texts]


def queries_in_hop(queries: Sequence[Query], hop: int) -> list[Query]:
    """Those searched for in that hop of a round, in their order."""
    return [query for query in queries if query.get("hop", 0) == hop]


def in_hop(queries: Iterable[Query], hop: int) -> list[Query]:
    """The queries, to be searched for in that hop."""
    return [{**query, "hop": hop} for query in queries]


def query_from(queries: Sequence[Query], origin: QueryOrigin) -> str:
    """The text of the first query of that origin; empty where there is none."""
    return next((query["text"] for query in queries if query["origin"] == origin), "")


def trace_plan(read: ReadQueries, failure: str, fewest: int = 1) -> MultiQueryTrace:
    """What was dropped, and why the question stands alone where fewer than ``fewest`` queries are left."""
    left = f"the reply holds {len(read.kept)} usable queries, {fewest} needed" if len(read.kept) < fewest else ""
    return MultiQueryTrace(
        dropped_queries=[{"query": query, "reason": reason} for query, reason in read.dropped],
        fallback=failure or left,
    )
