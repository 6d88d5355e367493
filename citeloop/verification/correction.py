"""Whether and how a draft is corrected (ADR-031, _validate_and_correct). Pure."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import CheckedDraft, Correction, Verdict
from citeloop.state.models import SUPPORTED_FROM


class NextRound(NamedTuple):
    """What the next round does about a draft, and why, in words; ``none``: the best draft so far is returned."""

    correction: Correction
    reason: str


def choose_correction(
    verdict: Verdict,
    settings: RAGConfig,
    *,
    rounds_done: int,
    elapsed_ms: float,
    tried: Sequence[str],
    is_complete: bool = True,
    round_ms: Sequence[float] = (),
) -> NextRound:
    """What the next round does; ``none`` when the draft passed whole and ``is_complete`` (no sub-question was left
    without an answer), or rounds, time or ideas are used up.

    Over ``max_invalid_citations`` invalid ones: drop their sources and regenerate. Under ``confidence_threshold``, or
    with claims taken out: first the neighbours and parent sections of the context, then a wider search. ``round_ms``
    are the milliseconds that each round so far took; no round starts that would likely end after ``latency_budget_ms``.
    """
    if verdict.get("unchecked"):
        return NextRound("none", verdict["note"])
    if verdict["passed"] and is_complete and not verdict.get("removed"):
        return NextRound("none", "the draft passed every check")
    spent = _why_spent(settings, rounds_done, elapsed_ms, _expected_ms(round_ms))
    if spent:
        return NextRound("none", spent)
    if verdict["invalid_chunk_ids"] and verdict["invalid_share"] > settings.max_invalid_citations:
        return NextRound("drop", f"{_fault(verdict)}: the sources cited for what they do not say are dropped")
    if "neighbours" not in tried:
        return NextRound("neighbours", f"{_fault(verdict)}: more is read around the passages, or searched for")
    if "widen" not in tried:
        return NextRound("widen", f"{_fault(verdict)}: the search goes wider")
    return NextRound("none", "there is nothing left to try")


def _why_spent(settings: RAGConfig, rounds_done: int, elapsed_ms: float, expected_ms: float) -> str:
    """Why no further round may start; empty when one may."""
    if not settings.enable_self_correction:
        return "self-correction is off"
    if rounds_done >= settings.max_correction_rounds:
        return f"the most correction rounds that are allowed were made: {rounds_done}"
    if elapsed_ms + expected_ms >= settings.latency_budget_ms:
        left = max(0.0, settings.latency_budget_ms - elapsed_ms)
        return f"a further round would take about {expected_ms:.0f} ms, and {left:.0f} ms are left"
    return ""


def _expected_ms(round_ms: Sequence[float]) -> float:
    """A correction takes as long as the longest one so far; the first one, as long as the first draft took."""
    return max(round_ms[1:] or round_ms, default=0.0)


def _fault(verdict: Verdict) -> str:
    return verdict["note"] or "a part of the question has no answer"


def better_draft(best: CheckedDraft | None, new: CheckedDraft) -> CheckedDraft:
    """The draft to return if no further one comes: a pass over none; an answer with a supported claim over a refusal,
    and that over an answer without one; then the number of sub-questions answered; then, where claims that are not
    supported are taken out, the number of those left; then confidence; then the earlier one. So a round can only
    improve what is returned, an invention never replaces a refusal, nor a short answer one of which more is left."""
    return new if best is None or _merit_of(new) > _merit_of(best) else best


Merit: TypeAlias = tuple[bool, int, int, int, float]


def _merit_of(checked: CheckedDraft) -> Merit:
    return merit(checked["verdict"], parts_found=sum(part["found"] for part in checked.get("sub_answers", ())))


def merit(verdict: Verdict, parts_found: int = 0) -> Merit:
    """What of two checked answers the better one has more of; see ``better_draft``."""
    supported = any(citation["confidence"] >= SUPPORTED_FROM for citation in verdict["citations"])
    worth = 2 if supported else 1 if verdict["refused"] else 0
    left = sum(claim["verdict"] == "supported" for claim in verdict.get("claims", ())) if "removed" in verdict else 0
    return verdict["passed"], worth, parts_found, left, verdict["confidence"]
