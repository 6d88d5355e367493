"""The audit log: durable rows, a chain that shows tampering, questions without an end."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from citeloop.errors import StoreBusy, StoreCorrupt
from citeloop.governance.audit import SQLiteAuditLog


@pytest.fixture
def log(tmp_path: Path) -> SQLiteAuditLog:
    return SQLiteAuditLog(tmp_path / "audit.db")


def fill(log: SQLiteAuditLog, requests: int = 3) -> None:
    for number in range(requests):
        log.append(f"r{number}", "asked", {"question": f"q{number}?", "user": "ana"})
        log.append(f"r{number}", "ended", {"outcome": "answered"})


def tamper(tmp_path: Path, statement: str) -> None:
    with sqlite3.connect(tmp_path / "audit.db") as connection:
        connection.execute(statement)
    connection.close()


def test_rows_come_back_newest_first(log: SQLiteAuditLog) -> None:
    fill(log)
    assert [(row.request_id, row.event) for row in log.rows(limit=3)] == [
        ("r2", "ended"),
        ("r2", "asked"),
        ("r1", "ended"),
    ]
    assert [row.event for row in log.rows(request_id="r1")] == ["ended", "asked"]
    assert log.rows(request_id="r1")[1].body == {"question": "q1?", "user": "ana"}


def test_an_untouched_log_verifies(log: SQLiteAuditLog) -> None:
    fill(log)
    report = log.verify()
    assert (report.rows, report.intact, report.unfinished) == (6, True, ())


def test_an_empty_log_verifies(log: SQLiteAuditLog) -> None:
    assert log.verify().intact


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE audit SET body = replace(body, 'q1', 'q9') WHERE seq = 3", 3),
        ("UPDATE audit SET at = '2020-01-01' WHERE seq = 4", 4),
        ("DELETE FROM audit WHERE seq = 3", 4),
        ("DELETE FROM audit WHERE seq = 1", 2),
    ],
)
def test_a_changed_or_removed_row_shows(log: SQLiteAuditLog, tmp_path: Path, statement: str, broken: int) -> None:
    fill(log)
    tamper(tmp_path, statement)
    assert broken in log.verify().broken_seqs


def test_a_question_without_an_end_is_reported(log: SQLiteAuditLog) -> None:
    fill(log, 1)
    log.append("lost", "asked", {"question": "?"})
    assert [row.request_id for row in log.verify().unfinished] == ["lost"]


def test_many_threads_keep_one_chain(log: SQLiteAuditLog) -> None:
    threads = [threading.Thread(target=fill, args=(log, 5)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = log.verify()
    assert (report.rows, report.intact) == (80, True)


def test_processes_that_begin_at_once_keep_one_chain(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from citeloop.governance.audit import SQLiteAuditLog\n"
        "log = SQLiteAuditLog(Path(sys.argv[1])); print('ready', flush=True); sys.stdin.readline()\n"
        "for i in range(10): log.append(sys.argv[2] + str(i), 'asked', {})"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "audit.db")]
    processes = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        for name in "abcd"
    ]
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin and process.stdin.write("go\n")
    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0] * 4
    report = SQLiteAuditLog(tmp_path / "audit.db").verify()
    assert (report.rows, report.intact) == (40, True)


def test_a_row_is_durable_when_append_returns(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from citeloop.governance.audit import SQLiteAuditLog\n"
        "SQLiteAuditLog(Path(sys.argv[1])).append('r', 'asked', {'question': 'q'}); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "audit.db")], check=False)
    assert [row.request_id for row in SQLiteAuditLog(tmp_path / "audit.db").rows()] == ["r"]


def test_a_file_that_is_no_log_is_told_plainly(tmp_path: Path) -> None:
    (tmp_path / "audit.db").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreCorrupt, match="not a readable audit log"):
        SQLiteAuditLog(tmp_path / "audit.db").append("r", "asked", {})


def test_a_locked_log_is_told_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citeloop.governance.audit._BUSY_S", 0.1)
    log = SQLiteAuditLog(tmp_path / "audit.db")
    fill(log, 1)
    other = sqlite3.connect(tmp_path / "audit.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy, match="another process"):
        SQLiteAuditLog(tmp_path / "audit.db").append("r", "asked", {})
    other.close()
