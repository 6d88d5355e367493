"""Which result of a sub-question counts after several rounds, and how it is told."""

from typing import Any

import pytest

from citeloop.errors import SearchFailed
from citeloop.nodes.gather_sub_answers import gather_sub_answers
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, NOT_FOUND
from citeloop.state.graph_state import AnsweredSubQuestion, Passage, SubQuestionTask
from citeloop.state.models import Citation
from citeloop.verification.sub_answers import best_of_rounds, not_found, sub_answer_of
from tests.unit.graph_fakes import passage, request, turn, verdict


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
    citations = [
        Citation(
            citation_id=1,
            claim_text="Leave lasts 16 weeks.",
            source_chunk_id=cites,
            source_text="16 weeks",
            confidence=0.9,
            span_in_response=(0, 25),
        ).model_dump(mode="json")
    ]
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


async def gather(*results: AnsweredSubQuestion, **changes: Any) -> Any:
    kept = {f"{result['round']:02d}|{result['key']}": result for result in results}
    return await gather_sub_answers(turn(answered=kept, **changes))


def with_passages(result: AnsweredSubQuestion, *passages: Passage) -> AnsweredSubQuestion:
    return {**result, "passages": list(passages)}


async def test_the_passages_of_all_branches_have_one_numbering_without_the_dropped() -> None:
    shared, bad, last = passage(1), passage(2, chunk_id="bad"), passage(2, chunk_id="last", score=2.0)
    gathered = await gather(
        with_passages(answered("00"), shared, bad), with_passages(answered("01"), shared, last), excluded_ids=["bad"]
    )
    assert [(p["number"], p["chunk_id"]) for p in gathered["passages"]] == [(1, "c1"), (2, "last")]
    assert [chunk["chunk_id"] for chunk in gathered["trace"]["ranked_chunks"]] == ["last", "c1"]
    assert "draft" not in gathered


async def test_where_every_branch_dropped_out_only_an_earlier_draft_saves_the_run() -> None:
    failed = [not_found(task(key), "failed", "Timeout: late") for key in ("00", "01")]
    with pytest.raises(SearchFailed, match="late"):
        await gather(*failed)
    kept = await gather(*failed, best={"round": 0})
    assert kept["draft"]["text"] == INDEX_HAS_NO_ANSWER


def test_one_that_was_not_found_is_told_as_such() -> None:
    told = sub_answer_of(not_found(task(), "none", "Timeout: late", [passage(1)]), {"c1": 1})
    assert (told.answer, told.found, told.passed, told.citations) == (NOT_FOUND, False, False, ())
    assert (told.error, told.source_chunk_ids) == ("Timeout: late", ("c1",))
