"""Small talk and follow-up questions through the whole graph: no search for the one, the right search for the other."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from citeloop.engine import RAGQueryEngine
from citeloop.errors import CorpusNotFound
from citeloop.prompts.small_talk import SMALL_TALK_REPLY
from citeloop.state.config import RAGConfig
from tests.handbook import engine_over
from tests.strategy_fakes import calls_of, handbook_model

THREAD: dict[str, Any] = {"thread_id": "t"}


@pytest.mark.parametrize("strategy", ["auto", "standard", "sub_questions"])
def test_small_talk_gets_a_reply_that_claims_nothing(stores: Path, strategy: Any) -> None:
    engine = engine_over(stores, checkpointer=InMemorySaver())
    response = engine.query("Hi, who are you?", access_reason="t", config=RAGConfig(strategy=strategy, review="always"))
    assert (response.answer, response.status) == (SMALL_TALK_REPLY, "small_talk")
    assert (response.citations, response.sources, response.trace["queries"]) == ((), (), [])
    assert (response.tokens_used, response.confidence) == (0, 1.0)
    assert "no search" in response.trace["analysis"]["reason"]
    ended, asked = engine.audit.rows(request_id=response.request_id)
    assert (asked.event, ended.event, ended.body["outcome"]) == ("asked", "ended", "small_talk")


def test_small_talk_does_not_go_past_the_door(engine: RAGQueryEngine) -> None:
    with pytest.raises(CorpusNotFound):
        engine.query("Hi", access_reason="t", corpus_ids=["nowhere"])


def test_small_talk_can_be_searched_for(engine: RAGQueryEngine) -> None:
    response = engine.query("Hi", access_reason="t", config=RAGConfig(reply_to_small_talk=False))
    assert response.status == "no_evidence"
    assert response.trace["queries"]


def test_a_follow_up_is_searched_as_a_standing_question(stores: Path) -> None:
    engine = engine_over(stores, checkpointer=InMemorySaver())
    first = engine.query("How long is parental leave?", access_reason="one", corpus_ids=["handbook"], **THREAD)
    second = engine.query("Who is it requested from?", access_reason="two", **THREAD)
    assert "follow_up" not in first.trace
    assert second.trace["follow_up"]["asked"] == "Who is it requested from?"
    assert {query["query"] for query in second.trace["queries"]} == {second.trace["follow_up"]["question"]}
    assert "parental leave" in second.trace["follow_up"]["question"]
    assert "team lead" in second.answer
    third = engine.query("Thanks!", access_reason="three", **THREAD)
    assert (third.status, third.trace.get("follow_up")) == ("small_talk", None)


def test_the_model_makes_it_and_sees_the_askers_words_beside_it(stores: Path) -> None:
    model = handbook_model(standalone_question="What is the limit for hotels a night?")
    engine = engine_over(stores, model)
    history = [HumanMessage("Are hotels booked by the travel desk?"), AIMessage("Yes. [1]")]
    response = engine.query("And the limit?", access_reason="t", history=history, config=RAGConfig(strategy="standard"))
    assert "140 euros" in response.answer
    assert {query["query"] for query in response.trace["queries"]} == {"What is the limit for hotels a night?"}
    [prompt] = calls_of(model, "answer")
    assert "And the limit?" in prompt
    assert "Are hotels booked" not in prompt


def test_without_turns_before_no_model_call_is_spent(stores: Path) -> None:
    model = handbook_model()
    engine_over(stores, model).query(
        "And the limit for hotels?", access_reason="t", config=RAGConfig(strategy="simple")
    )
    assert calls_of(model, "standalone_question") == []
