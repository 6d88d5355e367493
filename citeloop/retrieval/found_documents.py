"""What the queries of a run found, read together."""

import logging
from collections.abc import Iterable, Sequence

from citeloop.errors import SearchFailed
from citeloop.state.graph_state import Passage
from citeloop.state.multi_query_state import FoundDocuments, TracedQuery

_log = logging.getLogger(__name__)


def require_one_answer(failures: Sequence[str]) -> None:
    """Raise ``SearchFailed`` when every query dropped out: that the index has no answer would be untrue.

    ``failures``: why each did, empty for one that was answered.
    """
    if failures and all(failures):
        raise SearchFailed(f"every search failed; the first: {failures[0]}")


def passages_by_id(passages: Iterable[Passage]) -> dict[str, Passage]:
    """Each document once, in order, as it was first found."""
    unique: dict[str, Passage] = {}
    for passage in passages:
        unique.setdefault(passage["chunk_id"], passage)
    return unique


def trace_query(found: FoundDocuments) -> TracedQuery:
    """The query with its ranked ids, for the trace; logged as well."""
    ranked = [
        {"chunk_id": passage["chunk_id"], "rank": rank, "title": passage["title"]}
        for rank, passage in enumerate(found["passages"], start=1)
    ]
    ids = [passage["chunk_id"] for passage in found["passages"]]
    _log.info("%s %r ranked %s", found["origin"], found["query"], ids)
    return TracedQuery(query=found["query"], origin=found["origin"], ranked=ranked, error=found["error"])
