"""From a checked draft to the response."""

from collections.abc import Iterable
from typing import Any, TypedDict, Unpack

from citeloop.state.graph_state import CheckedDraft, Passage, Verdict
from citeloop.state.models import (
    AnswerClaim,
    Citation,
    Conflict,
    RAGResponse,
    RetrievalContext,
    RetrievalStrategy,
    SourceReference,
    SubAnswer,
)
from citeloop.verification.claim_verdicts import told_in_short
from citeloop.verification.refusal import status_of


class Circumstances(TypedDict, total=False):
    """What else a response tells of how it came about, by the names of ``RAGResponse``."""

    hops_executed: int
    correction_rounds: int
    tokens_used: int
    sub_answers: tuple[SubAnswer, ...]
    trace: dict[str, Any]
    timings_ms: dict[str, float]


def response_from(
    checked: CheckedDraft,
    strategy: RetrievalStrategy,
    total_retrieved: int,
    entities_traversed: Iterable[str] = (),
    **circumstances: Unpack[Circumstances],
) -> RAGResponse:
    """The response that the draft makes: marked where it did not pass; a refusal carries no sources."""
    verdict = checked["verdict"]
    sources = () if verdict["refused"] else tuple(map(_as_source, checked["passages"]))
    return RAGResponse(
        answer=verdict["answer"],
        status=status_of(verdict),
        citations=tuple(Citation.model_validate(citation) for citation in verdict["citations"]),
        claims=tuple(AnswerClaim.model_validate(claim) for claim in verdict.get("claims", ())),
        conflicts=tuple(Conflict.model_validate(conflict) for conflict in verdict.get("conflicts", ())),
        confidence=verdict["confidence"],
        sources=sources,
        strategy_used=strategy,
        context_used=RetrievalContext(
            chunks=sources,
            strategy_used=strategy,
            total_retrieved=total_retrieved,
            entities_traversed=tuple(entities_traversed),
            hops_executed=circumstances.get("hops_executed", 1),
        ),
        **circumstances,
    )


def policy_trace(verdict: Verdict, *, tells_text: bool) -> dict[str, Any]:
    """What ``claim_policy`` did, for the trace: that nothing was checked, or what was taken out and why; the verdicts
    alone of that, unless it ``tells_text``: it is no checked text."""
    told = {"checks": "off"} if verdict.get("unchecked") else {}
    if "removed" not in verdict:
        return told
    removed = verdict["removed"]
    return {**told, "removed": [told_in_short(c) if tells_text else {"verdict": c["verdict"]} for c in removed]}


def _as_source(passage: Passage) -> SourceReference:
    """The passage as a response refers to it: everything but its text."""
    return SourceReference.model_validate(
        {key: value for key, value in passage.items() if key not in ("text", "members")}
    )
