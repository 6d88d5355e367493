"""Corrective retrieval: passages are graded, and searched for once more in other words where none is good."""

from pathlib import Path
from typing import Any

import pytest

from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, is_refusal
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse
from citeloop.testing import ScriptedChatModel
from tests.handbook import engine_over
from tests.strategy_fakes import LEAVE, calls_of, handbook_model

VAGUE = "What do newborns change for staff?"


def ask(stores: Path, model: ScriptedChatModel, question: str = VAGUE, **settings: Any) -> RAGResponse:
    config = RAGConfig.model_validate({"strategy": "standard", "max_correction_rounds": 0, **settings})
    return engine_over(stores, model).query(question, access_reason="t", config=config)


def model_that_rewrites(*queries: str) -> ScriptedChatModel:
    return handbook_model(query_rewriter="\n".join(queries), answer="No evidence found")


@pytest.mark.parametrize("strategy", ["standard", "simple"])
def test_good_passages_cost_no_call(stores: Path, strategy: str) -> None:
    model = model_that_rewrites(LEAVE)
    response = ask(stores, model, LEAVE, strategy=strategy, corrective_retrieval="retry")
    assert calls_of(model, "query_rewriter") == []
    [told] = response.trace["grading"]
    assert told["decision"] == "generate"
    assert told["good"] >= 1


@pytest.mark.parametrize("strategy", ["standard", "simple"])
def test_without_a_good_passage_other_words_are_searched_once(stores: Path, strategy: str) -> None:
    model = model_that_rewrites(LEAVE, "sabbatical months")
    response = ask(stores, model, strategy=strategy, corrective_retrieval="retry")
    assert len(calls_of(model, "query_rewriter")) == 1
    assert [told["decision"] for told in response.trace["grading"]] == ["rewrite", "generate"]
    searched = {(query["query"], query["origin"]) for query in response.trace["queries"]}
    assert searched == {(VAGUE, "question"), (LEAVE, "rewrite"), ("sabbatical months", "rewrite")}
    assert len(calls_of(model, "answer")) == 1


def test_it_can_be_switched_off(stores: Path) -> None:
    model = model_that_rewrites(LEAVE)
    response = ask(stores, model, corrective_retrieval="off")
    assert calls_of(model, "query_rewriter") == []
    assert {query["query"] for query in response.trace["queries"]} == {VAGUE}


def test_refuse_never_asks_the_generator_without_a_good_passage(stores: Path) -> None:
    model = model_that_rewrites("badges")
    response = ask(stores, model, corrective_retrieval="refuse")
    assert response.answer.startswith(f"{INDEX_HAS_NO_ANSWER} ") and is_refusal(response.answer)
    assert (response.status, response.sources) == ("no_evidence", ())
    assert response.sources == ()
    assert calls_of(model, "answer") == []
    assert response.trace["grading"][-1]["decision"] == "refuse"


@pytest.mark.parametrize("reply", ["", TimeoutError(), VAGUE], ids=["empty", "failure", "the question again"])
def test_without_rewrites_what_is_there_is_used(stores: Path, reply: Any) -> None:
    model = handbook_model(query_rewriter=reply, answer="No evidence found")
    response = ask(stores, model, corrective_retrieval="retry")
    assert {query["query"] for query in response.trace["queries"]} == {VAGUE}
    assert response.trace["corrective_retrieval"]["fallback"]
    assert len(calls_of(model, "answer")) == 1


def test_strategies_that_rewrote_the_question_already_do_not_again(stores: Path) -> None:
    model = model_that_rewrites("newborns", "staff")
    ask(stores, model, strategy="rag_fusion", corrective_retrieval="retry")
    assert len(calls_of(model, "query_rewriter")) == 1
