"""The trust boundary is the store: ways around the door, each with what it gets."""

from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send

from citeloop.engine import RAGQueryEngine
from citeloop.errors import CiteloopError, CorpusNotFound, MissingReason, SearchFailed
from citeloop.state.models import UserContext
from tests.handbook import engine_over, guard

LEGAL_QUESTION = "Who signs contracts over 50,000 euros?"
SECRET = "two directors"
BOB = UserContext(user_id="bob")


@pytest.fixture
def guarded(stores: Path) -> RAGQueryEngine:
    return guard(engine_over(stores, checkpointer=InMemorySaver()))


def test_the_owner_of_the_right_gets_the_answer(guarded: RAGQueryEngine) -> None:
    response = guarded.query(LEGAL_QUESTION, access_reason="t", user_context=UserContext(user_id="ana"))
    assert SECRET in response.answer


def test_without_names_only_open_corpora_are_searched(guarded: RAGQueryEngine) -> None:
    response = guarded.query(LEGAL_QUESTION, access_reason="t", user_context=BOB)
    assert SECRET not in response.model_dump_json()
    assert {source.corpus for source in response.sources} <= {"handbook"}


def test_a_denied_corpus_answers_exactly_as_a_missing_one(guarded: RAGQueryEngine) -> None:
    told = []
    for name in ("legal", "absent"):
        with pytest.raises(CorpusNotFound) as denied:
            guarded.query(LEGAL_QUESTION, access_reason="t", user_context=BOB, corpus_ids=[name])
        told.append((type(denied.value), denied.value.code, str(denied.value).replace(name, "NAME")))
    assert told[0] == told[1]


def thread(engine: RAGQueryEngine) -> dict:  # type: ignore[type-arg]
    """A thread of Bob's with an honest question behind it."""
    config = {"configurable": {"thread_id": "bob", "citeloop_caller": BOB}}
    engine.graph.invoke({"question": "How long is parental leave?", "access_reason": "t"}, config)
    return config


TASK = {
    "round": 0,
    "query": LEGAL_QUESTION,
    "corpus": "legal",
    "depth": 10,
    "term_weights": {},
    "timeout_s": 5.0,
    "command": "query",
    "access_reason": "forged",
}


def jump(engine: RAGQueryEngine, config: dict) -> None:  # type: ignore[type-arg]
    """Past the door, into a search of the denied corpus."""
    with pytest.raises(SearchFailed, match="no corpus named 'legal' is open to you"):
        engine.graph.invoke(Command(goto=Send("search_corpus", TASK)), config)


def test_jumping_into_a_search_of_a_denied_corpus_finds_nothing(guarded: RAGQueryEngine) -> None:
    config = thread(guarded)
    jump(guarded, config)
    values = guarded.graph.get_state(config).values
    assert SECRET not in str(values)
    assert "no corpus named 'legal' is open to you" in str(values["search_failures"])


def test_no_row_no_search_behind_the_door_as_well(guarded: RAGQueryEngine) -> None:
    config = thread(guarded)
    jump(guarded, config)
    ended, asked = guarded.audit.rows(limit=2)
    assert (asked.event, asked.body["user"], asked.body["question"]) == ("asked", "bob", LEGAL_QUESTION)
    assert (asked.body["reason"], asked.body["resumed"]) == ("forged", True)
    assert (ended.event, ended.request_id) == ("ended", asked.request_id)
    with pytest.raises(MissingReason):
        guarded.graph.invoke(Command(goto=Send("search_corpus", {**TASK, "access_reason": ""})), config)


def test_forged_plans_find_nothing(guarded: RAGQueryEngine) -> None:
    config = thread(guarded)
    forged = guarded.graph.update_state(config, {"search_tasks": [TASK], "best": None}, as_node="plan_searches")
    with pytest.raises(SearchFailed, match="no corpus named 'legal' is open to you"):
        guarded.graph.invoke(None, forged)


def test_forged_candidates_are_not_read(guarded: RAGQueryEngine) -> None:
    config = thread(guarded)
    ana = guarded.query(
        LEGAL_QUESTION, access_reason="t", user_context=UserContext(user_id="ana"), corpus_ids=["legal"]
    )
    stolen = {"chunk_id": ana.sources[0].chunk_id, "corpus": "legal", "document_uri": "", "score": 1.0}
    for node, corpus in (("fuse_results", "legal"), ("fuse_results", "handbook"), ("rerank_chunks", "legal")):
        state = {"candidates": [{**stolen, "corpus": corpus}], "best": None}
        forged = guarded.graph.update_state(config, state, as_node=node)
        try:
            out = guarded.graph.invoke(None, forged)
        except CiteloopError as error:
            assert isinstance(error, CorpusNotFound)
        else:
            assert SECRET not in str(out)
    assert SECRET not in str(guarded.graph.get_state(config).values)
