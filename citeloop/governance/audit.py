"""The audit log: two rows a question, one a change of rights, chained by hash, in a SQLite file of its own.

``asked`` is durable before the first search; ``ended`` (answered, refused, failed, cancelled, interrupted) before the
answer leaves; ``rights`` before the change takes effect. Rows are only ever appended. Each holds the hash of the row
before it, so a changed, removed or re-ordered row shows in ``verify``; cutting off the newest rows does not, unless the
last hash is kept elsewhere.
"""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from filelock import FileLock, Timeout

from citeloop.errors import StoreBusy, StoreCorrupt, StoreError
from citeloop.fork import call_after_fork
from citeloop.governance.audit_format import bring_up_to_date

AuditEvent: TypeAlias = Literal["asked", "ended", "rights"]
Outcome = Literal[
    "answered",
    "low_confidence",
    "no_evidence",
    "rejected",
    "small_talk",
    "unchecked",
    "failed",
    "cancelled",
    "interrupted",
]

_GENESIS = "0" * 64
_BUSY_S = 10.0
_UNFINISHED = """
SELECT seq, at, request_id, event, body FROM audit a WHERE event = 'asked'
AND NOT EXISTS (SELECT 1 FROM audit e WHERE e.request_id = a.request_id AND e.event = 'ended') ORDER BY seq
"""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One row, as read."""

    seq: int
    at: str
    """UTC, ISO 8601, milliseconds."""
    request_id: str
    event: AuditEvent
    body: dict[str, Any]
    """asked: user, command, question, corpora, reason. ended: outcome, and what the answer rests on. rights: see
    ``RightsChange``."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What ``verify`` found."""

    rows: int
    broken_seqs: tuple[int, ...]
    """Rows whose hash does not follow from their content and the row before."""
    unfinished: tuple[AuditRow, ...]
    """Asked rows without an end: the process died, or the question is running now."""
    last_hash: str
    """Keep it elsewhere to notice a cut-off end."""

    @property
    def intact(self) -> bool:
        """Whether the chain holds."""
        return not self.broken_seqs


class AuditLog(Protocol):
    """Where questions and changes of rights are kept. Methods block until the row is durable: not for event loops."""

    def append(self, request_id: str, event: AuditEvent, body: dict[str, Any]) -> None:
        """Add a row; raises ``StoreBusy`` or ``StoreCorrupt`` when it cannot be kept."""


class SQLiteAuditLog:
    """The audit log in ``path``. Thread-safe, several processes may write, survives a fork."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._take_fresh_turns()
        call_after_fork(self._take_fresh_turns)

    def append(self, request_id: str, event: AuditEvent, body: dict[str, Any]) -> None:
        """Add a row, durable on return."""
        text = json.dumps(body, ensure_ascii=False, sort_keys=True)
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        with self._told_plainly(), self._turn(), self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            last = connection.execute("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
            seq, previous = (last[0] + 1, last[1]) if last else (1, _GENESIS)
            row = (seq, at, request_id, event, text, previous)
            connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, _row_hash(*row)))

    def require_writable(self) -> None:
        """Raise what ``append`` would raise: takes the write lock and gives it back, without a row."""
        with self._told_plainly(), self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()

    def rows(self, limit: int = 50, request_id: str | None = None) -> list[AuditRow]:
        """The newest ``limit`` rows, newest first, of one request or of all."""
        where, values = ("WHERE request_id = ?", (request_id,)) if request_id else ("", ())
        query = f"SELECT seq, at, request_id, event, body FROM audit {where} ORDER BY seq DESC LIMIT ?"
        with self._told_plainly(), self._connection() as connection:
            return [_as_row(row) for row in connection.execute(query, (*values, limit))]

    def verify(self) -> AuditReport:
        """Follow the whole chain and find asked rows without an end. Reads every row once."""
        broken: list[int] = []
        count, last_hash = 0, _GENESIS
        with self._told_plainly(), self._connection() as connection:
            for *row, kept_hash in connection.execute("SELECT * FROM audit ORDER BY seq"):
                seq, previous = row[0], row[-1]
                count += 1
                if seq != count or previous != last_hash or _row_hash(*row) != kept_hash:
                    broken.append(seq)
                last_hash = kept_hash
            unfinished = tuple(_as_row(row) for row in connection.execute(_UNFINISHED))
        return AuditReport(count, tuple(broken), unfinished, last_hash)

    def _take_fresh_turns(self) -> None:
        self._turns = threading.Lock()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One thread of this process after the other: SQLite lets those that wait sleep for up to 100 ms at a time."""
        turns = self._turns
        if not turns.acquire(timeout=_BUSY_S):
            raise self._busy()
        try:
            yield
        finally:
            turns.release()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if getattr(self._local, "pid", None) != os.getpid():  # a connection must not cross a fork
            self._local.connection, self._local.pid = self._open(), os.getpid()
        connection: sqlite3.Connection = self._local.connection
        try:
            yield connection
        except BaseException:
            if connection.in_transaction:
                connection.rollback()
            raise
        if connection.in_transaction:
            connection.commit()

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Of two that make the file at once, SQLite refuses one without waiting: they take turns.
        with FileLock(self._path.with_suffix(".lock"), timeout=_BUSY_S):
            connection = sqlite3.connect(self._path, timeout=_BUSY_S, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                bring_up_to_date(connection, self._path)
            except BaseException:
                connection.close()  # with what it began
                raise
        return connection

    @contextmanager
    def _told_plainly(self) -> Iterator[None]:
        try:
            yield
        except Timeout as error:
            raise self._busy() from error
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise self._busy() from error
            raise StoreCorrupt(f"{self._path}: {error}; check the folder's rights and free space") from error
        except sqlite3.DatabaseError as error:
            raise StoreCorrupt(
                f"{self._path} is not a readable audit log ({error}); move it away and keep it"
            ) from error
        except OSError as error:
            raise StoreError(f"{self._path} cannot be opened ({error}); choose another home (CITELOOP_HOME)") from error

    def _busy(self) -> StoreBusy:
        return StoreBusy(f"{self._path} was locked for {_BUSY_S:.0f} s by another process; try again")


def audit_log_in(home: Path) -> SQLiteAuditLog:
    """The audit log of a home folder; its file is made when it is first used."""
    return SQLiteAuditLog(home / "audit.db")


def _row_hash(seq: int, at: str, request_id: str, event: str, text: str, previous: str) -> str:
    packed = json.dumps([seq, at, request_id, event, text, previous], ensure_ascii=False)
    return hashlib.sha256(packed.encode()).hexdigest()


def _as_row(row: tuple[Any, ...]) -> AuditRow:
    seq, at, request_id, event, text = row
    return AuditRow(seq, at, request_id, event, json.loads(text))
