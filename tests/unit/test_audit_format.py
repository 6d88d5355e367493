"""Audit logs that an earlier version wrote: their rows and hashes stay, and changes of rights can join them."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from citeloop.errors import StoreBusy, StoreCorrupt, StoreVersionMismatch
from citeloop.governance import audit
from citeloop.governance.audit import SQLiteAuditLog
from citeloop.governance.audit_format import FORMAT

FIRST_FORMAT = """
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    request_id TEXT NOT NULL,
    event TEXT NOT NULL CHECK (event IN ('asked', 'ended')),
    body TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE INDEX audit_request ON audit (request_id, event);
PRAGMA journal_mode = WAL;
"""
ROWS = 5


def write_first_format(path: Path, rows_of: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(FIRST_FORMAT)
        connection.execute("ATTACH ? AS new", (str(rows_of),))
        connection.execute("INSERT INTO main.audit SELECT * FROM new.audit")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log of the first format: two questions, and one without an end."""
    new = SQLiteAuditLog(tmp_path / "new.db")
    for request in ("r1", "r2"):
        new.append(request, "asked", {"question": "Grüße?", "user": "ana"})
        new.append(request, "ended", {"outcome": "answered"})
    new.append("r3", "asked", {"question": "?"})
    write_first_format(tmp_path / "audit.db", tmp_path / "new.db")
    return tmp_path / "audit.db"


def read(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def content(path: Path) -> tuple[object, ...]:
    """Format, tables, rows."""
    tables = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
    return tuple(read(path, statement) for statement in ("PRAGMA user_version", tables, "SELECT * FROM audit"))


def test_the_first_format_knows_no_changes_of_rights(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute("INSERT INTO audit VALUES (6, '', '', 'rights', '{}', '', '')")


def test_rows_and_chain_stay_and_changes_of_rights_join_them(path: Path) -> None:
    rows = read(path, "SELECT * FROM audit ORDER BY seq")
    log = SQLiteAuditLog(path)
    report = log.verify()
    assert (report.rows, report.intact, report.last_hash) == (ROWS, True, rows[-1][-1])
    assert [row.request_id for row in report.unfinished] == ["r3"]
    assert read(path, "SELECT * FROM audit ORDER BY seq") == rows
    log.append("c1", "rights", {"change": "granted"})
    assert read(path, "SELECT * FROM audit ORDER BY seq")[:ROWS] == rows
    assert (log.verify().rows, log.verify().intact) == (ROWS + 1, True)
    assert [row.request_id for row in log.verify().unfinished] == ["r3"], "a change of rights has no end to wait for"
    assert [(row.event, row.body) for row in log.rows(request_id="c1")] == [("rights", {"change": "granted"})]


def test_an_old_log_and_a_new_one_become_the_same(path: Path) -> None:
    SQLiteAuditLog(path).verify()
    assert content(path) == content(path.with_name("new.db"))


def test_a_log_that_is_up_to_date_is_not_made_anew(path: Path) -> None:
    tables = []
    for _ in range(2):
        SQLiteAuditLog(path).verify()
        tables.append(read(path, "PRAGMA schema_version"))
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("tampering", "broken"),
    [
        ("UPDATE audit SET body = '{}' WHERE seq = 3", (3,)),
        ("UPDATE audit SET event = 'seen' WHERE seq = 2", (2,)),
        ("DELETE FROM audit WHERE seq = 2", (3, 4, 5)),
    ],
)
def test_what_was_tampered_with_still_shows(path: Path, tampering: str, broken: tuple[int, ...]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(tampering)
    assert SQLiteAuditLog(path).verify().broken_seqs == broken


KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from citeloop.governance.audit import SQLiteAuditLog

connect = sqlite3.connect

def traced(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.set_trace_callback(die)
    return connection

def die(statement):
    if statement.strip().startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

sqlite3.connect = traced
SQLiteAuditLog(Path(sys.argv[1])).verify()
"""


@pytest.mark.parametrize(
    "at", ["INSERT INTO new_audit", "DROP", "ALTER", "CREATE INDEX", "PRAGMA user_version =", "COMMIT"]
)
def test_killed_in_the_middle_it_is_still_the_old_one_and_goes_on_next_time(path: Path, at: str) -> None:
    before = content(path)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path), at], timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert content(path) == before
    assert SQLiteAuditLog(path).verify().rows == ROWS
    assert content(path) == content(path.with_name("new.db"))


def test_processes_that_open_an_old_log_at_once_keep_one_chain(path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from citeloop.governance.audit import SQLiteAuditLog\n"
        "print(flush=True); sys.stdin.readline(); SQLiteAuditLog(Path(sys.argv[1])).append('c', 'rights', {})"
    )
    command = [sys.executable, "-c", script, str(path)]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        assert process.stdout and process.stdout.readline()
    for process in processes:
        process.communicate(b"\n", timeout=60)
    assert [process.returncode for process in processes] == [0] * 4
    report = SQLiteAuditLog(path).verify()
    assert (report.rows, report.intact) == (ROWS + 4, True)


def test_who_has_the_old_file_open_goes_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(audit, "bring_up_to_date", lambda *_: None)
        earlier = SQLiteAuditLog(path)
        earlier.append("r4", "asked", {})
    SQLiteAuditLog(path).append("c1", "rights", {})
    earlier.append("r4", "ended", {})
    assert [row.event for row in earlier.rows(limit=3)] == ["ended", "rights", "asked"]
    report = SQLiteAuditLog(path).verify()
    assert (report.rows, report.intact) == (ROWS + 3, True)


def test_an_old_log_that_somebody_writes_to_is_busy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "_BUSY_S", 0.1)
    before = content(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="another process"):
            SQLiteAuditLog(path).append("c1", "rights", {})
    assert content(path) == before


def test_what_cannot_be_brought_up_to_date_is_told_and_given_free(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("CREATE TABLE new_audit (somebody_elses)")
        before = content(path)
        with pytest.raises(StoreCorrupt, match="new_audit already exists") as told:
            SQLiteAuditLog(path).verify()
        other.execute("BEGIN IMMEDIATE")
        assert told.tb is not None, "which still holds what was there when it failed"
    assert content(path) == before


def test_a_log_of_a_later_version_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    before = content(path)
    with pytest.raises(StoreVersionMismatch, match=f"format {FORMAT + 1}"):
        SQLiteAuditLog(path).append("r4", "asked", {})
    assert content(path) == before
