"""The support desk of examples/embedding: the query graph inside another application's graph, both ways."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from citeloop.engine import RAGQueryEngine
from citeloop.governance.identity import CALLER_KEY
from citeloop.state.config import RAGConfig
from citeloop.state.models import UserContext
from examples.embedding import added_as_a_node, called_in_a_node
from tests.handbook import engine_over

REPOSITORY = Path(__file__).parents[2]
LEAVE = {"ticket": "Hello, a child is on its way. How long is parental leave? Regards, Jo"}
MEALS = {"ticket": "Back from Lyon. How much is paid back for meals a day?"}
CONTRACTS = {"ticket": "We found a supplier. Who signs contracts over 50,000 euros?"}
LEGAL_ANSWER = "two directors"
LOCAL, BOB = UserContext(), UserContext(user_id="bob")

Build = Callable[[RAGQueryEngine], Any]
FORMS = {"call": "answer_ticket", "blocking call": "answer_ticket", "node": "query"}
"""Each form, and the node of the desk that is or holds the query graph."""


def build(form: str, engine: RAGQueryEngine) -> Any:
    checkpointer = InMemorySaver()
    if form == "node":
        return added_as_a_node.build_desk(engine, checkpointer)
    return called_in_a_node.build_desk(engine, checkpointer, blocking=form == "blocking call")


every_form = pytest.mark.parametrize("form", FORMS)
every_sync_form = pytest.mark.parametrize("form", ["blocking call", "node"])


def thread(caller: UserContext = LOCAL) -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": "t", CALLER_KEY: caller})


def assert_leave_is_answered(out: dict[str, Any]) -> None:
    assert "16 weeks" in out["reply"]
    assert out["sources"] == ["Leave (leave.md)"]
    assert not out["needs_a_person"]
    assert out.keys() == {"ticket", "reply", "sources", "needs_a_person"}, "the desk's own state, nothing of ours"


@every_sync_form
def test_a_ticket_is_answered(engine: RAGQueryEngine, form: str) -> None:
    assert_leave_is_answered(build(form, engine).invoke(LEAVE, thread()))


@every_form
async def test_a_ticket_is_answered_in_async_code(engine: RAGQueryEngine, form: str) -> None:
    assert_leave_is_answered(await build(form, engine).ainvoke(LEAVE, thread()))


def assert_streamed_under_their_graphs(form: str, chunks: list[tuple[tuple[str, ...], dict[str, Any]]]) -> None:
    outer = [step for namespace, update in chunks if not namespace for step in update]
    assert outer == (["read_ticket", "query", "write_reply"] if form == "node" else ["answer_ticket"])
    inner = {namespace: step for namespace, update in chunks if namespace for step in update}
    [(path,)] = inner.keys()
    assert path.partition(":")[0] == FORMS[form], "one namespace, of one run of the query graph"
    steps = [step for namespace, update in chunks if namespace for step in update]
    assert (steps[0], steps[-1]) == ("authorize", "audit_response")
    assert steps.count("search_corpus") == 2, "one branch a corpus, told once"


@every_sync_form
def test_steps_are_streamed(engine: RAGQueryEngine, form: str) -> None:
    stream = build(form, engine).stream(LEAVE, thread(), stream_mode="updates", subgraphs=True)
    assert_streamed_under_their_graphs(form, list(stream))


@every_form
async def test_steps_are_streamed_in_async_code(engine: RAGQueryEngine, form: str) -> None:
    stream = build(form, engine).astream(LEAVE, thread(), stream_mode="updates", subgraphs=True)
    assert_streamed_under_their_graphs(form, [chunk async for chunk in stream])


@every_form
async def test_two_tickets_on_a_thread_do_not_see_each_other(engine: RAGQueryEngine, form: str) -> None:
    desk = build(form, engine)
    await desk.ainvoke(LEAVE, thread())
    stream = desk.astream(MEALS, thread(), stream_mode="tasks", subgraphs=True)
    seen = [task["input"] async for namespace, task in stream if namespace and "input" in task]
    assert not (seen[0].get("passages") or seen[0].get("messages")), "the first node finds nothing of the last ticket"
    assert [message.text for message in seen[-1]["messages"]] == ["How much is paid back for meals a day?"]
    assert "How long is parental leave?" not in str(seen)
    values = (await desk.aget_state(thread())).values
    assert "45 euros" in values["reply"]
    assert values["sources"] == ["Travel (travel.md)"]


@every_form
async def test_a_denied_corpus_stays_denied(engine: RAGQueryEngine, form: str) -> None:
    engine.store.grant("handbook", ["user:bob"], LOCAL)
    desk = build(form, engine)
    assert LEGAL_ANSWER in (await desk.ainvoke(CONTRACTS, thread()))["reply"], "the local user reads all"

    desk = build(form, engine)
    assert "16 weeks" in (await desk.ainvoke(LEAVE, thread(BOB)))["reply"], "bob reads the handbook"
    stream = desk.astream(CONTRACTS, thread(BOB), stream_mode="values", subgraphs=True)
    seen = [chunk async for chunk in stream]
    assert seen[-1][1]["needs_a_person"]
    assert LEGAL_ANSWER not in str(seen)
    assert engine.audit.rows(limit=2)[1].body["user"] == "bob"


@every_form
async def test_a_caller_without_corpora_is_told_nothing(engine: RAGQueryEngine, form: str) -> None:
    out = await build(form, engine).ainvoke(LEAVE, thread(BOB))
    assert (out["sources"], out["needs_a_person"]) == ([], True)


@every_form
async def test_an_answer_waits_for_review_and_so_does_the_desk(stores: Path, form: str) -> None:
    desk = build(form, engine_over(stores, config=RAGConfig(review="always")))
    [waiting] = (await desk.ainvoke(LEAVE, thread()))["__interrupt__"]
    assert "16 weeks" in waiting.value["answer"]
    assert not (await desk.aget_state(thread())).values.get("reply")
    assert_leave_is_answered(await desk.ainvoke(Command(resume="approve"), thread()))


@pytest.mark.parametrize("form", ["call", "node"])
def test_the_program_runs(stores: Path, form: str) -> None:
    environment = {"PATH": os.environ["PATH"], "CITELOOP_HOME": str(stores), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-W", "error", "-m", "examples.embedding", LEAVE["ticket"], "--form", form, "--review"]
    done = subprocess.run(
        command,
        env=environment,
        cwd=stores,
        input="approve\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{FORMS[form]} > review_answer" in done.stdout
    assert done.stdout.endswith("16 weeks at full pay. [1]\nSources: Leave (leave.md)\nAnswered.\n")
