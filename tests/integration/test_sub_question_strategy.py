"""The strategy ``sub_questions``: branches, their sub-answers, and a correction inside the branches that need one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from citeloop.errors import SearchFailed
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, is_refusal
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse
from citeloop.testing import ScriptedChatModel
from citeloop.testing.scripted_chat_model import Reply
from tests.handbook import engine_over
from tests.strategy_fakes import (
    BADGES,
    BOTH,
    HOTELS,
    LEAVE,
    QUESTION,
    calls_of,
    documents_in,
    handbook_model,
    inside,
    quote_facts,
)

UNKNOWN = "Which telescope photographed Saturn?"


def ask(
    stores: Path, settings: dict[str, Any] | None = None, **replies: Reply | Callable[[str], Reply]
) -> tuple[RAGResponse, ScriptedChatModel]:
    model = handbook_model(**{"decomposer": BOTH, **replies})
    config = RAGConfig(strategy="sub_questions", **(settings or {}))
    return engine_over(stores, model).query(QUESTION, access_reason="t", config=config), model


def test_each_part_is_answered_from_its_own_passages_and_all_are_combined(stores: Path) -> None:
    response, model = ask(stores, {"top_k": 1})
    asked = {inside(prompt, "sub_question"): documents_in(prompt) for prompt in calls_of(model, "sub_answer")}
    assert [len(documents) for documents in asked.values()] == [1, 1]
    assert "16 weeks" in asked[LEAVE][0][1]
    assert "140 euros" in asked[HOTELS][0][1]
    [combiner] = calls_of(model, "combiner")
    assert inside(combiner, "question") == QUESTION
    assert combiner.count("<sub_question>") == 2
    assert response.answer == "Parental leave lasts 16 weeks at full pay. [1]\nThe limit is 140 euros a night. [2]"
    assert (response.status, response.correction_rounds) == ("answered", 0)


def test_the_sub_answers_cite_the_sources_of_the_response(stores: Path) -> None:
    response, _ = ask(stores, {"confidence_threshold": 0.5})
    texts = {source.number: source.title for source in response.sources}
    for part, title in zip(response.sub_answers, ("Leave", "Travel"), strict=True):
        [citation] = part.citations
        assert (part.found, part.passed, part.error) == (True, True, "")
        assert texts[citation.citation_id] == title
        assert f"[{citation.citation_id}]" in part.answer
        assert part.answer[slice(*citation.span_in_response)].startswith(citation.claim_text)
    assert {source.origin for source in response.sources} == {"sub_question"}


def test_a_part_that_is_not_found_is_searched_wider_and_told(stores: Path) -> None:
    response, model = ask(stores, {"top_k": 2}, decomposer=f"{LEAVE}\n{UNKNOWN}")
    asked = [inside(prompt, "sub_question") for prompt in calls_of(model, "sub_answer")]
    assert (asked.count(LEAVE), asked.count(UNKNOWN)) == (1, 2), "only the part that was not found is asked again"
    wider = [len(documents_in(prompt)) for prompt in calls_of(model, "sub_answer") if UNKNOWN in prompt]
    assert wider == [2, 4]
    found, missing = response.sub_answers
    assert (found.found, missing.found, missing.answer) == (True, False, "not found")
    assert f"The documents do not answer: {UNKNOWN}" in response.answer
    assert {query["round"] for query in response.trace["queries"]} == {0, 1}


def test_no_rounds_is_the_stop_rule_of_the_specification(stores: Path) -> None:
    response, model = ask(stores, {"max_correction_rounds": 0}, decomposer=f"{LEAVE}\n{UNKNOWN}")
    assert len(calls_of(model, "sub_answer")) == 2
    assert len(calls_of(model, "combiner")) == 1
    assert response.correction_rounds == 0


def test_a_weak_part_is_answered_anew_and_combined_again(stores: Path) -> None:
    leave = iter([lambda prompt: "Leave is granted by unicorns.", quote_facts])

    def answer(prompt: str) -> str:
        return next(leave)(prompt) if LEAVE in prompt else quote_facts(prompt)

    response, model = ask(stores, {"top_k": 1, "confidence_threshold": 0.5}, sub_answer=answer)
    assert [inside(prompt, "sub_question") for prompt in calls_of(model, "sub_answer")].count(HOTELS) == 1
    assert len(calls_of(model, "combiner")) == 2
    assert response.correction_rounds == 1
    assert "16 weeks" in response.answer
    assert "unicorns" not in response.answer
    assert [part.passed for part in response.sub_answers] == [True, True]


def test_a_part_that_cites_what_it_does_not_say_is_answered_without_that_source(stores: Path) -> None:
    def answer(prompt: str) -> str:
        sources = documents_in(prompt)
        wrong = [label for label, text in sources if "yellow badge" in text]
        return f"{quote_facts(prompt).split(' [')[0]} [{wrong[0]}]" if wrong else quote_facts(prompt)

    response, _ = ask(stores, sub_answer=answer)
    assert response.trace["rounds"][0]["next"] == "drop"
    assert "Visitors" not in {source.title for source in response.sources}
    assert {citation.document_title for citation in response.citations} == {"Leave", "Travel"}


def test_where_no_part_is_found_the_answer_is_the_refusal(stores: Path) -> None:
    response, model = ask(stores, decomposer=f"{UNKNOWN}\nWho painted the moon?")
    assert response.answer.startswith(f"{INDEX_HAS_NO_ANSWER} ") and is_refusal(response.answer)
    assert (response.status, response.sources) == ("no_evidence", ())
    assert calls_of(model, "combiner") == []
    assert [part.answer for part in response.sub_answers] == ["not found", "not found"]


def test_a_failing_part_drops_out_and_its_siblings_stand(stores: Path) -> None:
    def answer(prompt: str) -> Reply:
        return TimeoutError() if LEAVE in prompt else quote_facts(prompt)

    response, _ = ask(stores, {"max_correction_rounds": 0}, sub_answer=answer)
    failed, answered = response.sub_answers
    assert failed.error.startswith("ModelTimeout")
    assert (failed.found, answered.found) == (False, True)
    assert "140 euros" in response.answer
    assert [failure["query"] for failure in response.trace["failures"]] == [LEAVE]


def test_when_every_part_fails_the_index_is_not_said_to_have_no_answer(
    stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise OSError("disk")

    monkeypatch.setattr(HybridSearcher, "search", fail)
    with pytest.raises(SearchFailed, match="disk"):
        ask(stores)


def test_a_round_whose_parts_fail_keeps_the_answer_that_is_there(stores: Path) -> None:
    calls = 0

    def answer(prompt: str) -> Reply:
        nonlocal calls
        calls += 1
        return TimeoutError() if calls > 2 else quote_facts(prompt)

    response, _ = ask(stores, {"top_k": 1}, decomposer=f"{LEAVE}\n{UNKNOWN}", sub_answer=answer)
    assert "16 weeks" in response.answer
    assert response.sub_answers[0].passed


def test_a_slow_part_ends_at_its_time_limit(stores: Path) -> None:
    model = handbook_model(delay_s=2, decomposer=BOTH)
    config = RAGConfig(strategy="sub_questions", model_timeout_s=0.05, search_timeout_s=0.5)
    response = engine_over(stores, model).query(LEAVE, access_reason="t", config=config)
    assert response.trace["fallback"].startswith("model_timeout"), "the decomposer is too slow: the question is asked"
    assert "16 weeks" in response.answer


def test_more_parts_than_allowed_are_told(stores: Path) -> None:
    response, _ = ask(stores, {"max_sub_questions": 2}, decomposer=f"{BOTH}\n{BADGES}")
    assert [part.sub_question for part in response.sub_answers] == [LEAVE, HOTELS]
    assert response.trace["dropped_queries"] == [{"query": BADGES, "reason": "over the limit of 2"}]
