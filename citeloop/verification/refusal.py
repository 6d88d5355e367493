"""The verdict on an answer that is none: a class of its own, neither supported nor a hallucination."""

from citeloop.state.graph_state import Verdict
from citeloop.state.models import AnswerStatus


def refusal_verdict(answer: str, note: str) -> Verdict:
    """A refusal, worded ``answer``, with nothing cited and no confidence; ``note`` says why."""
    return Verdict(
        answer=answer,
        refused=True,
        citations=[],
        invalid_chunk_ids=[],
        invalid_share=0.0,
        confidence=0.0,
        passed=False,
        note=note,
    )


def small_talk_verdict(reply: str) -> Verdict:
    """``reply`` claims nothing, so nothing of it can be unsupported: it passes as it is, without sources."""
    verdict = refusal_verdict(reply, "small talk: nothing was searched for, and nothing is claimed")
    return Verdict(**{**verdict, "small_talk": True, "confidence": 1.0, "passed": True})


def status_of(verdict: Verdict) -> AnswerStatus:
    """The status under which an answer with this verdict leaves."""
    if verdict.get("small_talk"):
        return "small_talk"
    if verdict["refused"]:
        return "no_evidence"
    if verdict.get("unchecked"):
        return "unchecked"
    return "answered" if verdict["passed"] else "low_confidence"
