"""``citeloop audit``: the rows, the chain, and what its exit code says."""

import json
import sqlite3
from pathlib import Path

import pytest

from citeloop.governance.audit import SQLiteAuditLog
from tests.command_line import citeloop


@pytest.fixture
def kept(home: Path) -> Path:
    """A home with an audit log of two questions, one of them without an end."""
    log = SQLiteAuditLog(home / "audit.db")
    log.append("r1", "asked", {"question": "Grüße, wie lange?", "user": "ana"})
    log.append("r1", "ended", {"outcome": "answered"})
    log.append("r2", "asked", {"question": "Who signs?", "user": "bob"})
    return home


def test_list(kept: Path) -> None:
    rows = [json.loads(line) for line in citeloop(kept, "audit", "list", "--json").stdout.splitlines()]
    assert [(row["seq"], row["request_id"], row["event"]) for row in rows] == [
        (3, "r2", "asked"),
        (2, "r1", "ended"),
        (1, "r1", "asked"),
    ]
    assert rows[0].keys() == {"seq", "at", "request_id", "event", "body"}
    assert rows[2]["body"]["question"] == "Grüße, wie lange?"
    lines = citeloop(kept, "audit", "list", "--request", "r1", "--limit", "1").stdout.splitlines()
    assert len(lines) == 1
    assert 'r1 ended outcome="answered"' in lines[0]


def test_verify_reports_what_has_no_end(kept: Path) -> None:
    result = citeloop(kept, "audit", "verify", "--json")
    report = json.loads(result.stdout)
    assert result.returncode == 0
    assert (report["rows"], report["intact"], report["broken_seqs"]) == (3, True, [])
    assert [row["request_id"] for row in report["unfinished"]] == ["r2"]
    assert len(report["last_hash"]) == 64


@pytest.mark.parametrize(
    ("statement", "broken"),
    [("UPDATE audit SET body = '{}' WHERE seq = 2", 2), ("DELETE FROM audit WHERE seq = 2", 3)],
)
def test_a_broken_chain_is_exit_code_1(kept: Path, statement: str, broken: int) -> None:
    connection = sqlite3.connect(kept / "audit.db")
    with connection:
        connection.execute(statement)
    connection.close()
    told = citeloop(kept, "audit", "verify")
    assert told.returncode == 1
    assert f"BROKEN at rows {broken}" in told.stdout
    as_json = citeloop(kept, "audit", "verify", "--json")
    assert as_json.returncode == 1
    assert json.loads(as_json.stdout)["broken_seqs"] == [broken]
    assert json.loads(as_json.stdout)["intact"] is False


def test_an_empty_log(home: Path) -> None:
    listed = citeloop(home, "audit", "list", "--json")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert json.loads(citeloop(home, "audit", "verify", "--json").stdout)["rows"] == 0
