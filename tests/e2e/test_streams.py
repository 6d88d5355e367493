"""What becomes of a question that is cancelled, left or overtaken, and of its audit rows; no draft in any stream."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import ConflictError, NotFoundError

from citeloop.governance.audit import SQLiteAuditLog
from tests.e2e.dev_server import dev_server
from tests.openai_stub import OpenAIStub, StubReply

ANSWER = "Parental leave lasts 16 weeks at full pay. [1]"
DRAFT = "Every unicorn gets an allowance of 900 euros a day. [2]"
SLOW = StubReply(ANSWER, delay_s=10)
BRIEF = StubReply(ANSWER, delay_s=1)


@pytest.fixture(scope="module")
def slow_model() -> Iterator[OpenAIStub]:
    with OpenAIStub() as stub:
        yield stub


@pytest.fixture(scope="module")
def home(indexed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(indexed_home, tmp_path_factory.mktemp("streams") / "home"))


@pytest.fixture(scope="module")
def server_url(home: Path, slow_model: OpenAIStub) -> Iterator[str]:
    variables = {"OPENAI_BASE_URL": slow_model.base_url, "CITELOOP_EXPOSE_STEPS": "false"}
    with dev_server(home, home.parent, **variables) as server:
        yield server.url


@pytest.fixture(scope="module")
def audit(home: Path) -> SQLiteAuditLog:
    return SQLiteAuditLog(home / "audit.db")


@pytest.fixture
async def client(server_url: str) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server_url) as client:
        yield client


@pytest.fixture
async def thread(client: LangGraphClient) -> str:
    return str((await client.threads.create())["thread_id"])


def question(reason: str) -> dict[str, str]:
    """The reason tells the audit rows of one question from those of another."""
    return {"question": "How long is parental leave?", "access_reason": reason}


async def until(holds: Callable[[], Any], seconds: float = 30) -> Any:
    for _ in range(int(seconds / 0.05)):
        if found := holds():
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"waited {seconds} s in vain")


def audit_rows(audit: SQLiteAuditLog, reason: str) -> list[str]:
    """``asked`` and the outcomes, in order, of the one question that gave ``reason``."""
    rows = list(reversed(audit.rows(limit=1000)))
    asked = {row.request_id for row in rows if row.body.get("reason") == reason}
    assert len(asked) <= 1
    return [row.body.get("outcome", row.event) for row in rows if row.request_id in asked]


async def ended_rows(audit: SQLiteAuditLog, reason: str) -> list[str]:
    return await until(lambda: len(rows := audit_rows(audit, reason)) > 1 and rows)


async def ask_in_background(client: LangGraphClient, thread: str, reason: str, model: OpenAIStub) -> str:
    """Ask, and wait until the model is at work on the draft."""
    seen = len(model.requests)
    run = await client.runs.create(thread, "query", input=question(reason))
    await until(lambda: len(model.requests) > seen)
    return str(run["run_id"])


async def said(client: LangGraphClient, thread: str) -> list[str]:
    values: dict[str, Any] = (await client.threads.get_state(thread))["values"]  # type: ignore[assignment]
    return [message["type"] for message in values["messages"]]


async def test_a_background_run_is_joined(client: LangGraphClient, thread: str, slow_model: OpenAIStub) -> None:
    slow_model.reply_with(BRIEF)
    run = await ask_in_background(client, thread, "joined", slow_model)
    output = await client.runs.join(thread, run)
    assert "16 weeks" in output["answer"]
    assert (await client.runs.get(thread, run))["status"] == "success"


@pytest.mark.parametrize("action", ["interrupt", "rollback"])
async def test_a_cancelled_question_has_its_end(
    client: LangGraphClient, thread: str, audit: SQLiteAuditLog, slow_model: OpenAIStub, action: Any
) -> None:
    slow_model.reply_with(SLOW)
    run = await ask_in_background(client, thread, f"cancelled by {action}", slow_model)
    await client.runs.cancel(thread, run, action=action)
    assert await ended_rows(audit, f"cancelled by {action}") == ["asked", "cancelled"]


@pytest.mark.parametrize(("mode", "outcome"), [("cancel", "cancelled"), ("continue", "answered")])
async def test_a_client_that_goes_away(
    client: LangGraphClient, thread: str, audit: SQLiteAuditLog, slow_model: OpenAIStub, mode: Any, outcome: str
) -> None:
    slow_model.reply_with(SLOW if mode == "cancel" else BRIEF)
    asked = question(f"left: {mode}")
    parts = client.runs.stream(thread, "query", input=asked, stream_mode="custom", on_disconnect=mode)
    async with aclosing(parts) as stream:  # type: ignore[type-var]
        async for part in stream:
            if part.event == "custom" and part.data["node"] == "assemble_context":
                break
    assert await ended_rows(audit, asked["access_reason"]) == ["asked", outcome]


async def test_a_second_question_waits_its_turn(
    client: LangGraphClient, thread: str, audit: SQLiteAuditLog, slow_model: OpenAIStub
) -> None:
    slow_model.reply_with(BRIEF)
    await ask_in_background(client, thread, "waited for", slow_model)
    await client.runs.wait(thread, "query", input=question("waiting"), multitask_strategy="enqueue")
    assert await ended_rows(audit, "waited for") == ["asked", "answered"]
    assert await ended_rows(audit, "waiting") == ["asked", "answered"]
    assert await said(client, thread) == ["human", "ai", "human", "ai"]


async def test_a_second_question_is_rejected(
    client: LangGraphClient, thread: str, audit: SQLiteAuditLog, slow_model: OpenAIStub
) -> None:
    slow_model.reply_with(BRIEF)
    run = await ask_in_background(client, thread, "undisturbed", slow_model)
    with pytest.raises(ConflictError):
        await client.runs.create(thread, "query", input=question("rejected"), multitask_strategy="reject")
    await client.runs.join(thread, run)
    assert await ended_rows(audit, "undisturbed") == ["asked", "answered"]
    assert audit_rows(audit, "rejected") == []


async def test_a_second_question_interrupts(
    client: LangGraphClient, thread: str, audit: SQLiteAuditLog, slow_model: OpenAIStub
) -> None:
    slow_model.reply_with(SLOW, BRIEF)
    run = await ask_in_background(client, thread, "interrupted", slow_model)
    await client.runs.wait(thread, "query", input=question("interrupting"), multitask_strategy="interrupt")
    assert await ended_rows(audit, "interrupted") == ["asked", "cancelled"]
    assert await ended_rows(audit, "interrupting") == ["asked", "answered"]
    assert (await client.runs.get(thread, run))["status"] == "interrupted"
    assert await said(client, thread) == ["human", "human", "ai"]


async def test_a_second_question_rolls_the_first_back_but_not_its_audit(
    client: LangGraphClient, thread: str, audit: SQLiteAuditLog, slow_model: OpenAIStub
) -> None:
    slow_model.reply_with(SLOW, BRIEF)
    run = await ask_in_background(client, thread, "rolled back", slow_model)
    await client.runs.wait(thread, "query", input=question("rolling back"), multitask_strategy="rollback")
    assert await ended_rows(audit, "rolled back") == ["asked", "cancelled"]
    assert await ended_rows(audit, "rolling back") == ["asked", "answered"]
    with pytest.raises(NotFoundError):
        await client.runs.get(thread, run)
    assert await said(client, thread) == ["human", "ai"]


async def test_a_draft_that_failed_is_in_no_stream(
    client: LangGraphClient, thread: str, slow_model: OpenAIStub
) -> None:
    seen = len(slow_model.requests)
    slow_model.reply_with(StubReply(DRAFT), StubReply(ANSWER))
    modes: Any = ["values", "updates", "messages", "messages-tuple", "custom"]
    parts = client.runs.stream(thread, "query", input=question("drafted"), stream_mode=modes)
    told = [(part.event, str(part.data)) async for part in parts]
    assert len(slow_model.requests) - seen == 2, "the failed draft was written, then another one"
    assert [event for event, data in told if "unicorn" in data] == []
    shown = {event for event, data in told if "16 weeks" in data}
    assert shown == {"values", "updates", "messages", "custom"}


async def test_at_the_end_the_chain_holds_and_no_question_is_without_its_end(audit: SQLiteAuditLog) -> None:
    report = audit.verify()
    assert report.intact
    assert report.unfinished == ()
