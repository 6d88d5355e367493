"""A server that does not show its steps: nothing unchecked is kept, and no run goes on from a middle."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send

from citeloop.engine import RAGQueryEngine
from citeloop.errors import InvalidRequest
from citeloop.graph.step_channels import KEPT
from citeloop.testing import ScriptedChatModel
from tests.handbook import engine_over

QUESTION = {"question": "How long is parental leave?", "access_reason": "t"}
THREAD: Any = {"configurable": {"thread_id": "t"}}
DRAFT = "Leave lasts ninety unicorn years. [1]"
GOOD = "Parental leave lasts 16 weeks at full pay. [1]"


def hidden(stores: Path, *replies: str) -> RAGQueryEngine:
    llm = ScriptedChatModel(replies=list(replies)) if replies else None
    return engine_over(stores, llm, checkpointer=InMemorySaver(), expose_steps=False)


def test_drafts_that_failed_are_nowhere(stores: Path) -> None:
    engine = hidden(stores, DRAFT, GOOD)
    parts = list(engine.graph.stream(QUESTION, THREAD, stream_mode=["values", "updates", "messages", "custom"]))
    assert "unicorn" not in str(parts)
    assert "16 weeks" in engine.graph.get_state(THREAD).values["answer"]
    saver: Any = engine.graph.checkpointer
    kept = [*saver.list(THREAD)]
    assert "unicorn" not in str(kept)
    assert {key for checkpoint in kept for key in checkpoint.checkpoint["channel_values"]} & {
        "draft",
        "verdict",
    } == set()


def test_a_thread_keeps_the_request_and_the_answer_alone(stores: Path) -> None:
    engine = hidden(stores)
    engine.graph.invoke(QUESTION, THREAD)
    assert set(engine.graph.get_state(THREAD).values) == {"answer", "response", "messages"}
    saver: Any = engine.graph.checkpointer
    channels = {key for kept in saver.list(THREAD) for key in kept.checkpoint["channel_values"]}
    inputs = {"question", "access_reason", "__start__", "__pregel_tasks"}
    assert {key for key in channels if ":" not in key} <= KEPT | inputs


def test_the_same_answers_as_with_steps(stores: Path) -> None:
    shown = engine_over(stores).graph.invoke(QUESTION)["response"]
    unshown = hidden(stores).graph.invoke(QUESTION, THREAD)["response"]
    for told in ("answer", "status", "confidence", "citations", "sources", "correction_rounds"):
        assert shown[told] == unshown[told]
    assert ("draft" in shown["trace"]["rounds"][0], "draft" in unshown["trace"]["rounds"][0]) == (True, False)


@pytest.mark.parametrize(
    "way",
    [
        None,
        Command(goto="generate_answer"),
        Command(goto=Send("search_corpus", {"corpus": "legal"})),
        Command(update={"passages": []}),
        Command(resume="approve", goto="audit_response"),
    ],
    ids=["go on", "jump", "send", "write", "decide and jump"],
)
def test_no_run_goes_on_from_a_middle(stores: Path, way: Any) -> None:
    engine = hidden(stores)
    engine.graph.invoke(QUESTION, THREAD)
    rows = len(engine.audit.rows())
    with pytest.raises(InvalidRequest, match="threads keep no steps"):
        engine.graph.invoke(way, THREAD)
    assert len(engine.audit.rows()) == rows, "no search, no row"
