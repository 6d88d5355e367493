"""The store's SQLite file: made whole or not at all, read by pooled connections, written by one process at a time."""

import os
import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from citeloop.errors import StoreBusy, StoreCorrupt, StoreError, StoreVersionMismatch
from citeloop.knowledge.store_format import FORMAT, create_store, read_format, upgrade

WRITE_LOCK_TIMEOUT_S = 3.0
_SQLITE_BUSY_TIMEOUT_S = 5.0


class StoreFile:
    """``store.db`` and its write lock in a home folder, which is made if it is not there; an older format is upgraded.

    Readers see the last commit and never wait for the writer (write-ahead log). Thread-safe; after a fork the child
    opens connections of its own.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / "store.db"
        self._lock = FileLock(home / "write.lock")
        self._readers: deque[sqlite3.Connection] = deque()
        self._readers_pid = os.getpid()
        self._of_parent: deque[sqlite3.Connection] = deque()
        self._create_if_missing()
        with self.reading() as connection:
            version = read_format(connection, self.path)
        if version < FORMAT:
            self._upgrade(version)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read-only connection, the caller's alone until the block ends."""
        readers = self._own_readers()
        with self._errors_told():
            connection = readers.pop() if readers else self._connect("ro")
            try:
                yield connection
            finally:
                readers.append(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The one writing connection of all processes; transactions are the caller's (``with transaction(...)``).

        Raises:
            StoreBusy: another process or thread is writing and did not end within ``WRITE_LOCK_TIMEOUT_S``.
        """
        with self._write_lock(), self._errors_told(), closing(self._connect("rw")) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = NORMAL")  # with a write-ahead log a crash loses no consistency
            yield connection

    @contextmanager
    def amending(self) -> Iterator[sqlite3.Connection]:
        """One short transaction beside whoever holds the write lock: for what the search indexes have no part in.

        Who may read a corpus can so be changed while it is being indexed. Durable on return. Raises ``StoreBusy`` where
        the other's transaction does not end within seconds.
        """
        with self._errors_told(), closing(self._connect("rw")) as connection, transaction(connection):
            yield connection

    def close(self) -> None:
        """Close the idle connections. The file can be used again afterwards."""
        readers = self._own_readers()
        while readers:
            readers.pop().close()

    def _own_readers(self) -> deque[sqlite3.Connection]:
        if self._readers_pid != os.getpid():  # SQLite forbids using, and even closing, a connection of the parent
            self._of_parent, self._readers = self._readers, deque()
            self._readers_pid = os.getpid()
        return self._readers

    def _connect(self, mode: str) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(
            address, uri=True, timeout=_SQLITE_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )

    def _create_if_missing(self) -> None:
        if self.path.exists():
            return
        home = self.path.parent
        try:
            home.mkdir(parents=True, exist_ok=True)
            with self._write_lock(), self._errors_told():
                if not self.path.exists():
                    self._create()
        except OSError as error:
            raise _unwritable(home, error) from error

    def _create(self) -> None:
        """Build the file beside its place and move it there: a killed process leaves no half-made store."""
        draft = self.path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        create_store(draft)
        draft.rename(self.path)

    def _upgrade(self, version: int) -> None:
        try:
            with self.writing() as connection:
                now = read_format(connection, self.path)  # another process may have been faster
                if now < FORMAT:
                    upgrade(connection, now)
        except StoreBusy:
            raise
        except StoreError as error:
            raise StoreVersionMismatch(
                f"{self.path} has format {version} and could not be brought to format {FORMAT}: {error}"
            ) from error

    @contextmanager
    def _write_lock(self) -> Iterator[None]:
        try:
            self._lock.acquire(timeout=WRITE_LOCK_TIMEOUT_S)
        except Timeout as error:
            raise StoreBusy(
                f"another process is writing to {self.path.parent}; wait until it has ended, then run the command again"
            ) from error
        except OSError as error:
            raise _unwritable(self.path.parent, error) from error
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _errors_told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _translate(error, self.path) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing: commits at the end of the block, rolls back when an exception leaves it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _unwritable(home: Path, error: OSError) -> StoreError:
    return StoreError(f"{home} cannot be written to ({error}); mend that, or choose another home (CITELOOP_HOME)")


def _translate(error: sqlite3.Error, path: Path) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind, the rest details it
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusy(f"{path} is locked by another program; try again when that has ended")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreCorrupt(
            f"{path} cannot be read ({error}); restore it, or move it away and index the documents again"
        )
    return StoreError(f"{path}: {error}; is the disk full, or the folder not writable?")
