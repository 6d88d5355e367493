"""From queries to branches, and what a trace tells of how the queries came about."""

from collections.abc import Iterable

from citeloop.retrieval.query_replies import ReadQueries
from citeloop.state.multi_query_state import DocumentSearchTask, MultiQueryTrace, QueryOrigin


def plan_searches_for(
    queries: Iterable[tuple[str, QueryOrigin]], depth: int, timeout_s: float
) -> list[DocumentSearchTask]:
    """One branch for each query, in their order."""
    return [
        DocumentSearchTask(key=f"{number:02d}", query=query, origin=origin, depth=depth, timeout_s=timeout_s)
        for number, (query, origin) in enumerate(queries)
    ]


def trace_plan(read: ReadQueries, failure: str, fewest: int = 1) -> MultiQueryTrace:
    """What was dropped, and why the question stands alone where fewer than ``fewest`` queries are left."""
    left = f"the reply holds {len(read.kept)} usable queries, {fewest} needed" if len(read.kept) < fewest else ""
    return MultiQueryTrace(
        dropped_queries=[{"query": query, "reason": reason} for query, reason in read.dropped],
        fallback=failure or left,
    )
