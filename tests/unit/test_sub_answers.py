"""Which result of a sub-question counts after several rounds, and how it is told."""

from typing import Any

from citeloop.prompts.refusals import NOT_FOUND
from citeloop.state.graph_state import AnsweredSubQuestion, SubQuestionTask
from citeloop.verification.sub_answers import best_of_rounds, not_found, sub_answer_of
from tests.unit.graph_fakes import passage, request, verdict


def task(key: str = "00", round: int = 0) -> SubQuestionTask:
    return SubQuestionTask(
        key=key,
        sub_question=f"part {key}?",
        origin="sub_question",
        round=round,
        correction="none",
        excluded_ids=[],
        request=request(),
    )


def answered(key: str = "00", round: int = 0, cites: str = "c1", **changes: Any) -> AnsweredSubQuestion:
    citations = [{"source_chunk_id": cites, "confidence": 0.9}]
    result = not_found(task(key, round), "none")
    result["verdict"] = verdict(citations=citations, **changes)
    return result


def test_a_later_round_replaces_only_what_it_betters() -> None:
    weak, better, worse = (
        answered(passed=False, confidence=0.4),
        answered(round=1, passed=False, confidence=0.6),
        answered(round=1, passed=False, confidence=0.3),
    )
    assert best_of_rounds([weak, better]) == [better]
    assert best_of_rounds([weak, worse]) == [weak]
    assert best_of_rounds([weak, not_found(task(round=1), "failed", "Timeout")]) == [weak]
    assert best_of_rounds([weak, answered(round=1, passed=False, confidence=0.4)]) == [weak], "of equals the earlier"


def test_what_cites_a_dropped_source_makes_way_for_what_came_without_it() -> None:
    tainted, without = answered(confidence=0.9, cites="bad"), not_found(task(round=1), "none")
    assert best_of_rounds([tainted, without], {"bad"}) == [without]
    assert best_of_rounds([tainted, without]) == [tainted]


def test_sub_questions_stand_in_their_order() -> None:
    results = [answered("01"), answered("00", round=1), answered("02")]
    assert [result["key"] for result in best_of_rounds(results)] == ["00", "01", "02"]


def test_one_that_was_not_found_is_told_as_such() -> None:
    told = sub_answer_of(not_found(task(), "none", "Timeout: late", [passage(1)]), {"c1": 1})
    assert (told.answer, told.found, told.passed, told.citations) == (NOT_FOUND, False, False, ())
    assert (told.error, told.source_chunk_ids) == ("Timeout: late", ("c1",))
