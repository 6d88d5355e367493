"""Command lines that are interrupted, killed, or run out of disk."""

import json
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from citeloop.governance.audit import SQLiteAuditLog
from tests.command_line import citeloop, start
from tests.handbook import write_files
from tests.openai_stub import OpenAIStub, StubReply

LEAVE = "How long is parental leave?"


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX")
@pytest.mark.parametrize("kilobytes", [1, 400])
def test_a_full_disk(home: Path, tmp_path: Path, kilobytes: int, onnx_embedder: object) -> None:
    text = "\n\n".join(f"## Rule {n}\n\nRule {n} says that room {n} is cleaned on day {n}." for n in range(200))
    files = write_files(tmp_path / "files", {"rules.md": text})
    limit = files_no_larger_than(kilobytes)
    bytecode = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python would keep what it could write of it
    failed = citeloop(home, "index", str(files), "--corpus", "a", before=limit, **bytecode)
    assert (failed.returncode, failed.stdout, failed.stderr.count("\n")) == (1, "", 1)
    assert failed.stderr.startswith("citeloop: ")
    assert citeloop(home, "index", str(files), "--corpus", "a").returncode == 0, "with room again, it ends well"
    assert "day 7" in citeloop(home, "ask", "On which day is room 7 cleaned?").stdout


def files_no_larger_than(kilobytes: int) -> Callable[[], None]:
    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * kilobytes, 1024 * kilobytes))

    return limit


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full(stores: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = start(stores, "corpora", stdout=full)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert errors.count("\n") == 1
    assert errors.startswith("citeloop: OSError: ")


@pytest.fixture
def endless(openai_stub: OpenAIStub) -> dict[str, str]:
    """Settings with a chat model that does not come to its answer."""
    openai_stub.reply_with(StubReply(delay_s=60))
    return {"OPENAI_BASE_URL": openai_stub.base_url}


def wait_until_asked(stores: Path, stub: OpenAIStub) -> str:
    """The request id, once the model is at work on it."""
    for _ in range(600):
        if stub.requests:
            return SQLiteAuditLog(stores / "audit.db").rows(limit=1)[0].request_id
        time.sleep(0.1)
    raise AssertionError("the question did not reach the model")


def test_killed_between_asked_and_ended(stores: Path, openai_stub: OpenAIStub, endless: dict[str, str]) -> None:
    process = start(stores, "query", LEAVE, "--reason", "ticket 4711", **endless)
    request_id = wait_until_asked(stores, openai_stub)
    process.kill()
    process.communicate(timeout=60)
    verified = citeloop(stores, "audit", "verify", "--json")
    assert verified.returncode == 0, "the chain holds"
    (unfinished,) = json.loads(verified.stdout)["unfinished"]
    assert (unfinished["request_id"], unfinished["event"]) == (request_id, "asked")
    assert (unfinished["body"]["question"], unfinished["body"]["reason"]) == (LEAVE, "ticket 4711")
    assert f"no end: {' ' * 5}1 " in citeloop(stores, "audit", "verify").stdout


def test_interrupted_by_its_user(stores: Path, openai_stub: OpenAIStub, endless: dict[str, str]) -> None:
    process = start(stores, "ask", LEAVE, **endless)
    request_id = wait_until_asked(stores, openai_stub)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors.strip()) == (1, "", "citeloop: interrupted")
    ended, asked = SQLiteAuditLog(stores / "audit.db").rows()
    assert (asked.request_id, ended.request_id, ended.body) == (request_id, request_id, {"outcome": "cancelled"})


def test_the_log_level(stores: Path) -> None:
    sqlite(stores / "store.db", "UPDATE corpora SET embedding_model = 'other/model' WHERE name = 'legal'")
    warned = citeloop(stores, "ask", LEAVE)
    assert "16 weeks" in warned.stdout, "the corpus that can be searched is"
    assert "WARNING: search of corpus legal dropped out" in warned.stderr
    assert "dropped out" not in citeloop(stores, "ask", LEAVE, CITELOOP_LOG_LEVEL="ERROR").stderr


def sqlite(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()
