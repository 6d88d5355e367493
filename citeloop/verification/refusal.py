"""The verdict on an answer that is none: a class of its own, neither supported nor a hallucination."""

from citeloop.state.graph_state import Verdict


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
