"""The multi-query graphs over the engine's own store: the same door, audit and rights as the query graph."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send

from citeloop.engine import RAGQueryEngine
from citeloop.errors import CorpusNotFound, InvalidRequest, MissingReason, StoreCorrupt
from citeloop.governance.identity import CALLER_KEY
from citeloop.graph.audited_graph import AuditedGraph
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.state.models import UserContext
from tests.handbook import audit_events, engine_over, guard
from tests.multi_query_fakes import SCRIPT, scripted

PATTERNS = ("rag_fusion", "sub_questions", "step_back")
each_pattern = pytest.mark.parametrize("name", PATTERNS)

TWO_PARTS = "How long is parental leave and what is the limit for hotels a night?"
ASKED = {"question": TWO_PARTS, "access_reason": "t"}
CONTRACTS = {"question": "Who signs contracts over 50,000 euros and how long is notice?", "access_reason": "t"}
SECRET = "two directors"
THREAD: Any = {"configurable": {"thread_id": "t"}}


def called_by(user: str) -> Any:
    return {"configurable": {CALLER_KEY: UserContext(user_id=user)}}


@each_pattern
async def test_every_face_answers_with_numbers_that_lead_to_sources(engine: RAGQueryEngine, name: str) -> None:
    graph = engine.graphs[name]
    response = graph.invoke(ASKED)["response"]
    assert "16 weeks" in response["answer"]
    assert "140 euros" in response["answer"]
    assert response["strategy_used"] == name
    numbers = {source["number"]: source["chunk_id"] for source in response["sources"]}
    assert response["citations"]
    for citation in response["citations"]:
        assert numbers[citation["citation_id"]] == citation["source_chunk_id"]
        assert f"[{citation['citation_id']}]" in response["answer"]
    assert (await graph.ainvoke(ASKED))["answer"] == response["answer"]
    *_, last = graph.stream(ASKED, stream_mode="updates")
    assert last["return_response"]["answer"] == response["answer"]


@each_pattern
def test_both_audit_rows_are_kept(engine: RAGQueryEngine, name: str) -> None:
    graph = engine.graphs[name]
    assert isinstance(graph, AuditedGraph)
    response = graph.invoke(ASKED)["response"]
    ended, asked = engine.audit.rows(request_id=response["request_id"])
    assert (asked.event, asked.body["question"], asked.body["reason"]) == ("asked", TWO_PARTS, "t")
    assert (ended.event, ended.body["outcome"], ended.body["strategy"]) == ("ended", response["status"], name)
    assert ended.body["cited_chunks"]


@each_pattern
def test_a_run_that_fails_has_its_end(stores: Path, name: str) -> None:
    failing = engine_over(stores, scripted(**SCRIPT, answer=TimeoutError(), combiner=TimeoutError()))
    with pytest.raises(Exception, match="no reply in time"):
        failing.graphs[name].invoke(ASKED)
    assert audit_events(failing) == [("asked", ""), ("ended", "failed")]


@each_pattern
async def test_a_run_that_is_cancelled_has_its_end(stores: Path, name: str) -> None:
    slow = engine_over(stores, scripted(delay_s=60, **SCRIPT))
    stream: Any = slow.graphs[name].astream(ASKED, stream_mode="updates")
    assert "admit_question" in await anext(stream)
    await stream.aclose()
    assert audit_events(slow) == [("asked", ""), ("ended", "cancelled")]


@each_pattern
def test_the_same_rules_at_the_door(engine: RAGQueryEngine, name: str) -> None:
    graph = engine.graphs[name]
    with pytest.raises(MissingReason):
        graph.invoke({"question": "How long?"})
    with pytest.raises(InvalidRequest, match="unknown input 'corpus'"):
        graph.invoke({**ASKED, "corpus": "handbook"})
    with pytest.raises(InvalidRequest, match="corpora"):
        graph.invoke({**ASKED, "corpora": []})
    assert engine.audit.rows() == []
    with pytest.raises(CorpusNotFound, match="'absent'"):
        graph.invoke({**ASKED, "corpora": ["absent"]})
    assert audit_events(engine) == [("asked", ""), ("ended", "failed")]


@each_pattern
def test_a_chat_command_names_corpora_and_the_reason(engine: RAGQueryEngine, name: str) -> None:
    said = f'@corpus:query "{TWO_PARTS}" access_reason="audit 12" corpus_ids=legal'
    response = engine.graphs[name].invoke({"messages": [{"role": "user", "content": said}]})["response"]
    assert {source["corpus"] for source in response["sources"]} <= {"legal"}
    asked = engine.audit.rows(request_id=response["request_id"])[-1].body
    assert (asked["question"], asked["reason"], asked["corpora"]) == (TWO_PARTS, "audit 12", ["legal"])
    with pytest.raises(InvalidRequest, match="top_k: not in a chat with this graph"):
        engine.graphs[name].invoke({"messages": [{"role": "user", "content": f"{said} top_k=3"}]})


@each_pattern
def test_a_denied_corpus_is_read_by_no_branch(engine: RAGQueryEngine, name: str) -> None:
    graph = guard(engine).graphs[name]
    assert SECRET in graph.invoke(CONTRACTS, called_by("ana"))["answer"]
    unread = graph.invoke(CONTRACTS, called_by("bob"))
    assert SECRET not in str(unread)
    ranked = [hit["title"] for query in unread["response"]["trace"]["queries"] for hit in query["ranked"]]
    assert ranked and "contracts" not in ranked
    denied, missing = [], []
    for corpus, told in (("legal", denied), ("absent", missing)):
        with pytest.raises(CorpusNotFound) as refused:
            graph.invoke({**CONTRACTS, "corpora": [corpus]}, called_by("bob"))
        told.append(str(refused.value).replace(corpus, "X"))
    assert denied == missing


BRANCHES = {
    "rag_fusion": ("search_documents", {"key": "00", "query": "contracts", "origin": "question"}),
    "step_back": ("search_documents", {"key": "00", "query": "contracts", "origin": "question"}),
    "sub_questions": ("answer_sub_question", {"key": "00", "sub_question": "Who signs?", "origin": "question"}),
}


@each_pattern
def test_a_jump_past_the_door_is_a_run_of_its_caller(stores: Path, name: str) -> None:
    engine = guard(engine_over(stores, checkpointer=InMemorySaver()))
    graph = engine.graphs[name]
    config = called_by("bob")
    config["configurable"]["thread_id"] = "t"
    graph.invoke({**ASKED, "corpora": ["handbook"]}, config)
    node, task = BRANCHES[name]
    request = {"command": "query", "access_reason": "", "corpora": ["legal"]}
    forged = {**task, "depth": 5, "timeout_s": 5.0, "request": request}
    with pytest.raises(MissingReason):
        graph.invoke(Command(goto=Send(node, forged)), config)
    forged["request"] = {**request, "access_reason": "looking"}
    parts: list[Any] = []
    try:
        parts += graph.stream(Command(goto=Send(node, forged)), config, stream_mode=["updates", "values"])
    except Exception as error:  # what is left of the run may end in an error as well: nothing was found
        parts.append(repr(error))
    assert SECRET not in str(parts)
    assert any(row.event == "asked" and row.body.get("resumed") for row in engine.audit.rows())


@each_pattern
def test_hidden_steps_are_kept_nowhere(stores: Path, name: str) -> None:
    unchecked = "Leave lasts 16 weeks. [1][99]"
    model = scripted(**SCRIPT, answer=unchecked, combiner=unchecked, sub_answer=unchecked)
    engine = engine_over(stores, model, checkpointer=InMemorySaver(), expose_steps=False)
    graph = engine.graphs[name]
    parts = list(graph.stream(ASKED, THREAD, stream_mode=["values", "updates", "messages", "custom"]))
    assert "[99]" not in str(parts)
    saver: Any = graph.checkpointer
    channels = {key for kept in saver.list(THREAD) for key in kept.checkpoint["channel_values"]}
    assert "[99]" not in str(list(saver.list(THREAD)))
    assert channels & {"draft", "passages", "found", "answered", "best", "trace", "searches"} == set()
    assert set(graph.get_state(THREAD).values) == {"answer", "response", "messages"}
    with pytest.raises(InvalidRequest, match="threads keep no steps"):
        graph.invoke(None, THREAD)


@each_pattern
def test_a_corpus_that_fails_drops_out_and_is_told(
    engine: RAGQueryEngine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = HybridSearcher.search

    def breaking(self: HybridSearcher, task: Any, caller: UserContext) -> Any:
        if task["corpus"] == "legal":
            raise StoreCorrupt("legal is broken")
        return search(self, task, caller)

    monkeypatch.setattr(HybridSearcher, "search", breaking)
    response = engine.graphs[name].invoke(ASKED)["response"]
    assert "16 weeks" in response["answer"]
    assert {failure["error"] for failure in response["trace"]["failures"]} == {"StoreCorrupt: legal is broken"}


@each_pattern
def test_turns_of_a_thread_are_small_and_apart(stores: Path, name: str) -> None:
    graph = engine_over(stores, checkpointer=InMemorySaver()).graphs[name]
    graph.invoke({**ASKED, "corpora": ["legal"]}, THREAD)
    second = graph.invoke(ASKED, THREAD)["response"]
    assert {source["corpus"] for source in second["sources"]} >= {"handbook"}
    values = graph.get_state(THREAD).values
    assert len(str(values)) < 64 * 1024
