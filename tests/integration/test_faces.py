"""The compiled graph and the engine through every face, over real stores."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.graph.audited_graph import AuditedGraph
from citeloop.testing import ScriptedChatModel
from tests.handbook import audit_events, engine_over

LEAVE = {"question": "How long is parental leave?", "access_reason": "test"}
MEALS = {"question": "How much is paid back for meals a day?", "access_reason": "test"}

PLAIN_SCRIPT = """
import json, sys, warnings
warnings.simplefilter("error")
from citeloop import open_engine

engine = open_engine(sys.argv[1])
question = json.loads(sys.argv[2])
chunks = list(engine.graph.stream(question, stream_mode="values"))
print(json.dumps([
    engine.graph.invoke(question)["answer"],
    chunks[-1]["answer"],
    *[result["answer"] for result in engine.graph.batch([question, question])],
    engine.query(question["question"], access_reason="test").answer,
    engine.simple_query(question["question"]).answer,
]))
"""


def test_in_a_plain_script(stores: Path) -> None:
    command = [sys.executable, "-c", PLAIN_SCRIPT, str(stores), json.dumps(LEAVE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert len(answers) == 6
    assert all("16 weeks" in answer for answer in answers)


async def test_synchronous_faces_under_a_running_loop(engine: RAGQueryEngine) -> None:
    assert "16 weeks" in engine.graph.invoke(LEAVE)["answer"]
    assert "16 weeks" in list(engine.graph.stream(LEAVE, stream_mode="values"))[-1]["answer"]
    assert "16 weeks" in engine.graph.batch([LEAVE])[0]["answer"]
    assert "16 weeks" in engine.query(LEAVE["question"], access_reason="test").answer


async def test_asynchronous_faces(engine: RAGQueryEngine) -> None:
    assert "16 weeks" in (await engine.graph.ainvoke(LEAVE))["answer"]
    chunks = [chunk async for chunk in engine.graph.astream(LEAVE, stream_mode="values")]
    assert "16 weeks" in chunks[-1]["answer"]
    leave, meals = await engine.graph.abatch([LEAVE, MEALS])
    assert "16 weeks" in leave["answer"]
    assert "45 euros" in meals["answer"]
    assert "45 euros" in (await engine.asimple_query(MEALS["question"])).answer


def test_batch_keeps_the_order(engine: RAGQueryEngine) -> None:
    answers = [result["answer"] for result in engine.graph.batch([LEAVE, MEALS, LEAVE])]
    assert ["16 weeks" in answer for answer in answers] == [True, False, True]
    assert "45 euros" in answers[1]


def test_updates_are_streamed_node_by_node(engine: RAGQueryEngine) -> None:
    nodes = [name for update in engine.graph.stream(LEAVE, stream_mode="updates") for name in update]
    assert nodes[:3] == ["authorize", "analyze_query", "plan_searches"]
    assert nodes.count("search_corpus") == 2, "one branch a corpus"
    assert nodes[-1] == "audit_response"


def test_from_eight_threads_at_once(engine: RAGQueryEngine) -> None:
    def ask(number: int) -> tuple[str, str]:
        question = (LEAVE, MEALS)[number % 2]["question"]
        response = engine.query(question, access_reason=f"thread {number}")
        return response.request_id, response.answer

    with ThreadPoolExecutor(8) as threads:
        answered = list(threads.map(ask, range(8)))
    for number, (request_id, answer) in enumerate(answered):
        assert ("16 weeks", "45 euros")[number % 2] in answer
        assert engine.audit.rows(request_id=request_id)[1].body["reason"] == f"thread {number}"
    report = engine.audit.verify()
    assert (report.rows, report.intact, report.unfinished) == (16, True, ())


def test_two_event_loops_one_after_the_other(engine: RAGQueryEngine) -> None:
    for _ in range(2):
        response = asyncio.run(engine.aquery(LEAVE["question"], access_reason="test"))
        assert "16 weeks" in response.answer
    assert "16 weeks" in engine.query(LEAVE["question"], access_reason="test").answer


def test_a_stream_closed_early_has_its_end(stores: Path) -> None:
    engine = engine_over(stores, ScriptedChatModel(replies=lambda messages: "x", delay_s=60))
    stream = engine.graph.stream(LEAVE, stream_mode="updates")
    assert "authorize" in next(stream)
    stream.close()
    assert audit_events(engine) == [("asked", ""), ("ended", "cancelled")]


async def test_an_async_stream_closed_early_has_its_end(stores: Path) -> None:
    engine = engine_over(stores, ScriptedChatModel(replies=lambda messages: "x", delay_s=60))
    stream: Any = engine.graph.astream(LEAVE, stream_mode="updates")
    assert "authorize" in await anext(stream)
    await stream.aclose()
    assert audit_events(engine) == [("asked", ""), ("ended", "cancelled")]


def test_a_model_that_breaks_leaves_a_failed_end(stores: Path) -> None:
    engine = engine_over(stores, ScriptedChatModel(replies=[TimeoutError()]))
    with pytest.raises(Exception, match="no reply in time"):
        list(engine.graph.stream(LEAVE))
    assert audit_events(engine) == [("asked", ""), ("ended", "failed")]
    assert engine.audit.rows(limit=1)[0].body["error"] == "model_timeout"


async def test_with_config_keeps_every_face_and_the_audit(engine: RAGQueryEngine) -> None:
    graph = engine.graph.with_config(tags=["mine"], configurable={"thread_id": "t"})
    assert isinstance(graph, AuditedGraph)
    assert "16 weeks" in graph.invoke(LEAVE)["answer"]
    assert "16 weeks" in (await graph.ainvoke(LEAVE))["answer"]
    assert [row.event for row in engine.audit.rows()] == ["ended", "asked"] * 2
