"""Whether and how a draft is corrected (ADR-031, _validate_and_correct). Pure."""

from collections.abc import Sequence

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import CheckedDraft, Correction, Verdict
from citeloop.state.models import SUPPORTED_FROM


def choose_correction(
    verdict: Verdict,
    settings: RAGConfig,
    *,
    rounds_done: int,
    elapsed_ms: float,
    tried: Sequence[str],
    is_complete: bool = True,
) -> Correction:
    """What the next round does about a draft; ``none`` when it passed and ``is_complete`` (no sub-question was left
    without an answer), or rounds, time or ideas are used up.

    Over ``max_invalid_citations`` invalid ones: drop their sources and regenerate. Under ``confidence_threshold``:
    first the neighbours and parent sections of the context, then a wider search.
    """
    if (verdict["passed"] and is_complete) or not settings.enable_self_correction:
        return "none"
    if rounds_done >= settings.max_correction_rounds or elapsed_ms >= settings.latency_budget_ms:
        return "none"
    if verdict["invalid_chunk_ids"] and verdict["invalid_share"] > settings.max_invalid_citations:
        return "drop"
    if "neighbours" not in tried:
        return "neighbours"
    return "none" if "widen" in tried else "widen"


def better_draft(best: CheckedDraft | None, new: CheckedDraft) -> CheckedDraft:
    """The draft to return if no further one comes: a pass over none; an answer with a supported claim over a refusal,
    and that over an answer without one; then the number of sub-questions answered; then confidence; then the earlier
    one. So a round can only improve what is returned, and an invention never replaces a refusal."""
    return new if best is None or _merit_of(new) > _merit_of(best) else best


def _merit_of(checked: CheckedDraft) -> tuple[bool, int, int, float]:
    return merit(checked["verdict"], parts_found=sum(part["found"] for part in checked.get("sub_answers", ())))


def merit(verdict: Verdict, parts_found: int = 0) -> tuple[bool, int, int, float]:
    """What of two checked answers the better one has more of; see ``better_draft``."""
    supported = any(citation["confidence"] >= SUPPORTED_FROM for citation in verdict["citations"])
    worth = 2 if supported else 1 if verdict["refused"] else 0
    return verdict["passed"], worth, parts_found, verdict["confidence"]
