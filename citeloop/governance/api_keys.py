"""API keys: ``cl_<id>_<secret>``, kept as hashes in a SQLite file of their own."""

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from citeloop.errors import CredentialsRefused, InvalidRequest, StoreBusy, StoreCorrupt, StoreError
from citeloop.governance.audit import audit_log_in
from citeloop.governance.identity import LOCAL_USER_ID, authenticated_caller
from citeloop.governance.rights_change import KeyChange, record_in
from citeloop.state.models import UserContext
from citeloop.text.names import is_one_line

KEY_PREFIX: Final = "cl_"
MAX_DAYS: Final = 36_500

_Row = tuple[Any, ...]
_BUSY_S = 10.0
_SECRET_BYTES = 32
_SCHEMA = """
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    user_id TEXT NOT NULL,
    groups TEXT NOT NULL,
    hash BLOB NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
) STRICT
"""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is kept of a key, without its hash. Times are UTC, ISO 8601, seconds."""

    id: str
    name: str
    """A label, for people."""
    user_id: str
    groups: tuple[str, ...]
    created_at: str
    expires_at: str | None
    revoked_at: str | None

    @property
    def state(self) -> str:
        """``active``, ``expired`` or ``revoked``."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if self.expires_at is None or self.expires_at > _now() else "expired"


class NewKey(NamedTuple):
    """A key just made: ``text`` is what its holder sends, and is kept nowhere."""

    text: str
    row: ApiKey


class ApiKeys:
    """The keys in ``home / "keys.db"``, which the first ``create`` makes (mode 0600). Blocking, thread-safe.

    Of a secret only its SHA-256 is kept. A slow, salted hash makes guessing people's passwords dear; a secret of 256
    random bits cannot be guessed at any price, and a fast hash keeps the check of each request cheap.

    A key that is made or revoked leaves its row in the home's audit log before that takes effect.

    Raises:
        StoreCorrupt: the file, or the audit log, cannot be read.
        StoreError: it cannot be opened or made.
        StoreBusy: another process keeps it locked.
    """

    def __init__(self, home: Path) -> None:
        self._path = home / "keys.db"
        self._record = record_in(audit_log_in(home))

    def create(self, user_id: str, groups: Sequence[str] = (), *, name: str = "", days: int | None = None) -> NewKey:
        """A new key of a user, for ever or for some days.

        Raises:
            InvalidRequest: a name that no caller may have, a label of several lines, or no sensible number of days.
        """
        caller = authenticated_caller(user_id, groups)
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise InvalidRequest(f"a key lives for 1 to {MAX_DAYS} days")
        if not is_one_line(name):
            raise InvalidRequest("the label of a key is one line of plain characters")
        key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(_SECRET_BYTES)
        expires_at = None if days is None else _iso(datetime.now(UTC) + timedelta(days=days))
        row = ApiKey(key_id, name, caller.user_id, caller.groups, _now(), expires_at, None)
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
                (row.id, name, row.user_id, json.dumps(row.groups), _hash(secret), row.created_at, expires_at),
            )
            self._record(_change("key_created", row))
        return NewKey(f"{KEY_PREFIX}{key_id}_{secret}", row)

    def rows(self) -> list[ApiKey]:
        """All keys, revoked ones too, oldest first."""
        return [_as_key(row) for row in self._read("SELECT * FROM keys ORDER BY created_at, rowid")]

    def revoke(self, key_id: str) -> ApiKey | None:
        """Make a key worthless, from the next request on; ``None``: there is no key of that id."""
        if (key := self._find(key_id)) is None:
            return None
        with self._writing() as connection:
            revoked = connection.execute(
                "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", (_now(), key_id)
            )
            if revoked.rowcount:
                self._record(_change("key_revoked", key))
        return self._find(key_id)

    def ever_made(self) -> bool:
        """Whether a key was ever made: revoking the last one must not open a server."""
        return bool(self._read("SELECT 1 FROM keys LIMIT 1"))

    def caller(self, text: str) -> UserContext:
        """Whose key this is. Raises ``CredentialsRefused`` for one that is unknown, wrong, expired or revoked."""
        key_id, _, secret = text.removeprefix(KEY_PREFIX).partition("_")
        rows = self._read("SELECT * FROM keys WHERE id = ?", (key_id,))
        kept_hash = rows[0][4] if rows else _hash("")
        if not hmac.compare_digest(kept_hash, _hash(secret)) or not rows or not secret:
            raise CredentialsRefused
        key = _as_key(rows[0])
        if key.state != "active":
            raise CredentialsRefused
        return authenticated_caller(key.user_id, key.groups)

    def _find(self, key_id: str) -> ApiKey | None:
        rows = self._read("SELECT * FROM keys WHERE id = ?", (key_id,))
        return _as_key(rows[0]) if rows else None

    def _read(self, statement: str, values: Sequence[str] = ()) -> list[_Row]:
        with self._told_plainly():
            if not self._path.exists():
                return []
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as connection:
                return connection.execute(statement, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._told_plainly():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))  # before SQLite makes it, for everyone to read
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as connection, connection:
                connection.execute(_SCHEMA)
                yield connection

    @contextmanager
    def _told_plainly(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise StoreBusy(f"{self._path} was locked for {_BUSY_S:.0f} s by another process; try again") from error
            raise StoreCorrupt(f"{self._path}: {error}; check the folder's rights and free space") from error
        except sqlite3.DatabaseError as error:
            raise StoreCorrupt(f"{self._path} is not a readable list of keys ({error}); restore it") from error
        except OSError as error:
            raise StoreError(f"{self._path} cannot be opened ({error}); check the folder's rights") from error


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _change(change: Literal["key_created", "key_revoked"], key: ApiKey) -> KeyChange:
    """``by`` is who can write the file: there is no other way to a key."""
    return {"change": change, "key": key.id, "user": key.user_id, "groups": list(key.groups), "by": LOCAL_USER_ID}


def _as_key(row: _Row) -> ApiKey:
    key_id, name, user_id, groups, _, created_at, expires_at, revoked_at = row
    return ApiKey(key_id, name, user_id, tuple(json.loads(groups)), created_at, expires_at, revoked_at)


def _now() -> str:
    return _iso(datetime.now(UTC))


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
