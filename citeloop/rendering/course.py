"""How an answer came about, in words for whoever reads it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from citeloop.state.models import RAGResponse, SourceReference

_NEXT_STEPS = {
    "none": "returned",
    "drop": "sources dropped, written again",
    "neighbours": "more of the same documents read",
    "widen": "searched wider",
}


class Course(NamedTuple):
    """What was done for an answer."""

    facts: list[tuple[str, str]]
    """Name and value."""
    queries: list[tuple[str, str]]
    """What was searched for, once each, and what the query was made from."""
    rounds: list[tuple[int, float, str]]
    """Of each draft: its round, its confidence, and what was found and done."""
    uncited: list[SourceReference]
    """Passages that stood before the generator, and that the answer does not cite."""


def course_of(response: RAGResponse) -> Course:
    """The course of ``response``, from its trace. Drafts are no part of it."""
    cited = {citation.source_chunk_id for citation in response.citations}
    return Course(
        facts=list(_facts(response)),
        queries=list(_queries(response.trace)),
        rounds=[(told["round"] + 1, told["confidence"], _outcome(told)) for told in response.trace.get("rounds") or ()],
        uncited=[source for source in response.sources if source.chunk_id not in cited],
    )


def _facts(response: RAGResponse) -> Iterator[tuple[str, str]]:
    analysis = response.trace.get("analysis") or {}
    yield "Strategy", response.strategy_used.value
    if reason := analysis.get("reason"):
        yield "Why", str(reason)
    if response.hops_executed > 1:
        yield "Searches, one upon the other", str(response.hops_executed)
    yield "Correction rounds", str(response.correction_rounds)
    yield "Passages read", f"{len(response.sources)}, of {response.context_used.total_retrieved} found"
    if response.tokens_used:
        yield "Tokens", f"{response.tokens_used:,}"
    if response.timings_ms:
        yield "Time", f"{sum(response.timings_ms.values()):,.0f} ms"
    if response.request_id:
        yield "Audit id", response.request_id


def _queries(trace: dict[str, Any]) -> Iterator[tuple[str, str]]:
    queries = {row["query"]: str(row.get("origin", "question")) for row in trace.get("queries") or ()}
    return ((query, origin.replace("_", "-")) for query, origin in queries.items())


def _outcome(told: dict[str, Any]) -> str:
    step = str(told.get("next", "none"))
    return "; ".join(filter(None, (str(told.get("note", "")), _NEXT_STEPS.get(step, step.replace("_", " ")))))
