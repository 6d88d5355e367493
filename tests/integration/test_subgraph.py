"""The query graph as a part of somebody else's graph."""

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from citeloop.engine import RAGQueryEngine
from citeloop.errors import MissingReason
from citeloop.governance.identity import CALLER_KEY
from citeloop.state.models import UserContext
from tests.handbook import audit_events, guard


@pytest.fixture
def engine(engine: RAGQueryEngine) -> RAGQueryEngine:
    """Its corpora are open to Ana, not to everybody."""
    return guard(engine)


ANA = RunnableConfig(configurable={CALLER_KEY: UserContext(user_id="ana")})


class Ticket(TypedDict, total=False):
    """A state that shares no key with ours."""

    subject: str
    reply: str


class Shared(TypedDict, total=False):
    """A state that shares some."""

    question: str
    access_reason: str
    answer: str
    response: dict[str, Any]
    notes: list[str]


def desk(engine: RAGQueryEngine, *, sync: bool = False, **compile_options: Any) -> Any:
    """A parent whose node asks the query graph and puts the answer into its own words."""

    def asked(state: Ticket) -> dict[str, str]:
        return {"question": state["subject"], "access_reason": "ticket 4711"}

    async def look_up(state: Ticket, config: RunnableConfig) -> Ticket:
        return {"reply": (await engine.graph.ainvoke(asked(state), config))["answer"]}

    def look_up_blocking(state: Ticket, config: RunnableConfig) -> Ticket:
        return {"reply": engine.graph.invoke(asked(state), config)["answer"]}

    parent = StateGraph(Ticket)
    parent.add_node("look_up", look_up_blocking if sync else look_up)
    parent.add_edge(START, "look_up")
    parent.add_edge("look_up", END)
    return parent.compile(**compile_options)


def shared(engine: RAGQueryEngine) -> Any:
    """A parent that has the query graph itself as a node."""

    def note(state: Shared) -> Shared:
        return {"notes": ["opened"]}

    parent = StateGraph(Shared)
    parent.add_node("note", note)
    parent.add_node("query", engine.graph)
    parent.add_edge(START, "note")
    parent.add_edge("note", "query")
    parent.add_edge("query", END)
    return parent.compile()


SHARED: Shared = {"question": "How long is parental leave?", "access_reason": "ticket 4711"}


def assert_ana_asked_once(engine: RAGQueryEngine) -> None:
    ended, asked = engine.audit.rows()
    assert (asked.event, asked.body["user"], asked.body["reason"]) == ("asked", "ana", "ticket 4711")
    assert (ended.event, ended.body["outcome"]) == ("ended", "answered")


def test_called_in_a_blocking_node(engine: RAGQueryEngine) -> None:
    assert "16 weeks" in desk(engine, sync=True).invoke({"subject": "How long is parental leave?"}, ANA)["reply"]
    assert_ana_asked_once(engine)


async def test_called_in_an_async_node(engine: RAGQueryEngine) -> None:
    assert "16 weeks" in (await desk(engine).ainvoke({"subject": "How long is parental leave?"}, ANA))["reply"]
    assert_ana_asked_once(engine)


def test_as_a_node_of_a_synchronous_parent(engine: RAGQueryEngine) -> None:
    out = shared(engine).invoke(SHARED, ANA)
    assert "16 weeks" in out["answer"]
    assert (out["response"]["status"], out["notes"]) == ("answered", ["opened"])
    assert_ana_asked_once(engine)


async def test_as_a_node_of_an_asynchronous_parent(engine: RAGQueryEngine) -> None:
    assert "16 weeks" in (await shared(engine).ainvoke(SHARED, ANA))["answer"]
    assert_ana_asked_once(engine)


def test_its_steps_are_streamed_and_drawn_through_the_parent(engine: RAGQueryEngine) -> None:
    steps = {
        name for _, update in shared(engine).stream(SHARED, stream_mode="updates", subgraphs=True) for name in update
    }
    assert steps >= {"note", "query", "authorize", "validate_citations", "audit_response"}
    assert "query:authorize" in shared(engine).get_graph(xray=True).nodes


def test_its_error_comes_out_of_the_parent(engine: RAGQueryEngine) -> None:
    with pytest.raises(MissingReason):
        shared(engine).invoke({"question": "How long is parental leave?"})
    assert engine.audit.rows() == []


async def test_an_interrupt_on_its_way_to_the_parent_is_no_failure(engine: RAGQueryEngine) -> None:
    async def look_up(state: Ticket, config: RunnableConfig) -> Ticket:
        asked = {"question": state["subject"], "access_reason": "ticket 4711"}
        out = await engine.graph.ainvoke(asked, config, interrupt_before=["generate_answer"])
        return {"reply": out["answer"]}

    parent = StateGraph(Ticket)
    parent.add_node("look_up", look_up)
    parent.add_edge(START, "look_up")
    config = RunnableConfig(configurable={"thread_id": "t"})
    await parent.compile(checkpointer=InMemorySaver()).ainvoke({"subject": "How long is parental leave?"}, config)
    assert audit_events(engine) == [("asked", ""), ("ended", "interrupted")]
