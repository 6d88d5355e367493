"""What the loop does about a draft, and which draft it returns."""

from functools import reduce
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import CheckedDraft, Verdict
from citeloop.verification.correction import better_draft, choose_correction, merit
from tests.unit.graph_fakes import verdict


def weak(**changes: object) -> Verdict:
    """A draft that did not pass, with no invalid citation."""
    return verdict(**{"passed": False, "confidence": 0.5, **changes})


def choose(
    v: Verdict, config: RAGConfig | None = None, *, rounds: int = 0, ms: float = 0, tried: tuple[str, ...] = ()
) -> str:
    return choose_correction(v, config or RAGConfig(), rounds_done=rounds, elapsed_ms=ms, tried=tried).correction


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
    assert choose_correction(passed, settings, **asked, is_complete=False).correction == "neighbours"  # type: ignore[arg-type]
    assert choose_correction(passed, settings, **asked).correction == "none"  # type: ignore[arg-type]


def test_of_drafts_that_pass_the_one_that_answers_more_parts_is_better() -> None:
    def draft(*found: bool, confidence: float) -> CheckedDraft:
        parts = [{"found": one} for one in found]
        return CheckedDraft(round=0, verdict=verdict(confidence=confidence), passages=[], sub_answers=parts)

    half, whole = draft(True, False, confidence=0.95), draft(True, True, confidence=0.85)
    assert better_draft(half, whole) is whole
    assert better_draft(whole, half) is whole


def reason(v: Verdict, config: RAGConfig | None = None, **changes: object) -> tuple[str, str]:
    asked: dict[str, object] = {"rounds_done": 0, "elapsed_ms": 0.0, "tried": [], **changes}
    return choose_correction(v, config or RAGConfig(), **asked)  # type: ignore[arg-type]


def test_a_round_that_would_likely_end_too_late_is_not_started() -> None:
    config = RAGConfig(latency_budget_ms=1000, max_correction_rounds=5)
    assert reason(weak(), config, elapsed_ms=400, round_ms=[400])[0] == "neighbours"
    stopped, why = reason(weak(), config, elapsed_ms=600, round_ms=[600])
    assert stopped == "none" and "600 ms" in why and "400 ms are left" in why
    # once there were corrections, they tell what the next one takes
    assert reason(weak(), config, elapsed_ms=700, round_ms=[500, 100, 100], tried=["drop"])[0] == "neighbours"
    assert reason(weak(), config, elapsed_ms=700, round_ms=[200, 100, 400], tried=["drop"])[0] == "none"


def test_the_reason_is_told_in_words() -> None:
    assert "dropped" in reason(weak(invalid_share=0.5, invalid_chunk_ids=["a"], note="50% are invalid"))[1]
    assert reason(weak(note="confidence 0.50 is under 0.80"))[1].startswith("confidence 0.50 is under 0.80: ")
    assert "part of the question" in reason(verdict(), is_complete=False)[1]
    assert reason(verdict())[1] == "the draft passed every check"
    assert "off" in reason(weak(), RAGConfig(enable_self_correction=False))[1]
    assert "2" in reason(weak(), rounds_done=2)[1]
    assert reason(weak(), tried=["neighbours", "widen"])[1] == "there is nothing left to try"


def test_what_was_not_checked_is_not_corrected() -> None:
    assert reason(weak(unchecked=True, note="nothing was checked")) == ("none", "nothing was checked")


def supported(count: int) -> list[dict[str, str]]:
    return [{"verdict": "supported"}] * count


def cut(round: int, left: int, removed: int, **changes: object) -> CheckedDraft:
    """A draft of which claims were taken out."""
    told = {"claims": supported(left), "removed": [{}] * removed, "citations": SUPPORTED, "passed": True}
    return checked(round, **{**told, "confidence": 0.9, **changes})


def test_a_draft_that_was_cut_is_corrected_though_what_is_left_passes() -> None:
    assert choose(verdict(removed=[{}], note="taken out: 1")) == "neighbours"
    assert choose(verdict(removed=[])) == "none"


def test_of_drafts_that_were_cut_the_one_of_which_more_is_left_is_better() -> None:
    short, long = cut(0, left=1, removed=3, confidence=0.97), cut(1, left=3, removed=1, confidence=0.85)
    assert better_draft(short, long) is long
    assert better_draft(long, cut(2, left=1, removed=0, confidence=0.99)) is long
    assert better_draft(long, cut(2, left=4, removed=0, passed=False)) is long
    # where nothing is taken out, a longer answer is not a better one
    whole = checked(0, claims=supported(1), citations=SUPPORTED, passed=True, confidence=0.97)
    assert (
        better_draft(whole, checked(1, claims=supported(3), citations=SUPPORTED, passed=True, confidence=0.9)) is whole
    )


CONFIDENCES = st.sampled_from([0.0, 0.3, 0.75, 0.9])
DRAFTS = st.builds(
    lambda passed, refused, confidence, cited, left: checked(
        0,
        passed=passed and not refused,
        refused=refused,
        confidence=0.0 if refused else confidence,
        citations=[] if refused else [{"confidence": one} for one in cited],
        claims=[] if refused else supported(left),
        removed=[],
    ),
    st.booleans(),
    st.booleans(),
    CONFIDENCES,
    st.lists(CONFIDENCES, max_size=3),
    st.integers(0, 4),
)


@given(st.lists(DRAFTS, min_size=1, max_size=6))
def test_whatever_the_rounds_bring_what_is_returned_never_gets_worse(drafts: list[CheckedDraft]) -> None:
    returned = list(accumulate(drafts, better_draft))
    for before, after, new in zip(returned, returned[1:], drafts[1:], strict=False):
        assert after is before or (after is new and merit(new["verdict"]) > merit(before["verdict"]))
        assert after["verdict"]["passed"] >= before["verdict"]["passed"]
        if before["verdict"]["refused"] and not after["verdict"]["refused"] and not after["verdict"]["passed"]:
            assert any(citation["confidence"] >= 0.7 for citation in after["verdict"]["citations"])
    assert merit(reduce(better_draft, drafts)["verdict"]) == max(merit(one["verdict"]) for one in drafts)
