"""What the loop does about a draft, and which draft it returns."""

import pytest

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import CheckedDraft, Verdict
from citeloop.verification.correction import better_draft, choose_correction
from tests.unit.graph_fakes import verdict


def weak(**changes: object) -> Verdict:
    """A draft that did not pass, with no invalid citation."""
    return verdict(**{"passed": False, "confidence": 0.5, **changes})


def choose(
    v: Verdict, config: RAGConfig | None = None, *, rounds: int = 0, ms: float = 0, tried: tuple[str, ...] = ()
) -> str:
    return choose_correction(v, config or RAGConfig(), rounds_done=rounds, elapsed_ms=ms, tried=tried)


def test_a_passed_draft_is_not_corrected() -> None:
    assert choose(weak(passed=True, confidence=0.95)) == "none"


def test_too_many_invalid_citations_drop_their_sources() -> None:
    assert choose(weak(invalid_share=0.31, invalid_chunk_ids=["a"])) == "drop"


def test_few_invalid_citations_expand_instead() -> None:
    assert choose(weak(invalid_share=0.3, invalid_chunk_ids=["a"])) == "neighbours"


@pytest.mark.parametrize(
    ("tried", "expected"), [((), "neighbours"), (("neighbours",), "widen"), (("neighbours", "widen"), "none")]
)
def test_neighbours_come_before_a_wider_search_and_then_nothing(tried: tuple[str, ...], expected: str) -> None:
    assert choose(weak(), tried=tried) == expected


def test_rounds_and_time_bound_the_loop() -> None:
    config = RAGConfig(max_correction_rounds=1, latency_budget_ms=100)
    assert choose(weak(), config, rounds=1) == "none"
    assert choose(weak(), config, ms=100) == "none"
    assert choose(weak(), config, rounds=0, ms=99) == "neighbours"


def test_correction_can_be_off() -> None:
    assert choose(weak(), RAGConfig(enable_self_correction=False)) == "none"


def checked(round: int, **changes: object) -> CheckedDraft:
    return CheckedDraft(round=round, verdict=weak(**changes), passages=[])


SUPPORTED = [{"confidence": 0.9}]


def test_an_invention_does_not_replace_a_refusal() -> None:
    refusal = checked(0, refused=True, confidence=0.0)
    assert better_draft(refusal, checked(1, confidence=0.3)) is refusal
    supported = checked(1, confidence=0.3, citations=SUPPORTED)
    assert better_draft(refusal, supported) is supported
    assert better_draft(supported, refusal) is supported


def test_a_round_can_only_improve_what_is_returned() -> None:
    first = checked(0, confidence=0.6, citations=SUPPORTED)
    assert better_draft(None, first) is first
    assert better_draft(first, checked(1, confidence=0.4)) is first
    assert better_draft(first, checked(1, refused=True, confidence=0.9)) is first
    assert better_draft(first, checked(1, confidence=0.6, citations=SUPPORTED)) is first, (
        "of equals the earlier one stands"
    )
    passed = checked(1, passed=True, confidence=0.5)
    assert better_draft(first, passed) is passed


def test_a_draft_that_leaves_a_part_unanswered_is_expanded_though_it_passed() -> None:
    settings, passed = RAGConfig(), verdict()
    asked = {"rounds_done": 0, "elapsed_ms": 0.0, "tried": []}
    assert choose_correction(passed, settings, **asked, is_complete=False) == "neighbours"  # type: ignore[arg-type]
    assert choose_correction(passed, settings, **asked) == "none"  # type: ignore[arg-type]


def test_of_drafts_that_pass_the_one_that_answers_more_parts_is_better() -> None:
    def draft(*found: bool, confidence: float) -> CheckedDraft:
        parts = [{"found": one} for one in found]
        return CheckedDraft(round=0, verdict=verdict(confidence=confidence), passages=[], sub_answers=parts)

    half, whole = draft(True, False, confidence=0.95), draft(True, True, confidence=0.85)
    assert better_draft(half, whole) is whole
    assert better_draft(whole, half) is whole
