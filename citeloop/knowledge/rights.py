"""Owners and grants in SQL: which corpora a caller's principals open, and the changes an owner makes to that.

The conditions are about a row of ``corpora`` and need the values of ``bind_principals``.
"""

import json
import sqlite3
from datetime import UTC, datetime

from citeloop.errors import CorpusNotFound
from citeloop.governance.access import Principals
from citeloop.knowledge.corpus import Grant, OpenCorpus

_PRINCIPALS = "SELECT value FROM json_each(:principals)"
_IS_OWNER = f"'user:' || owner IN ({_PRINCIPALS})"
_IS_GRANTED = f"EXISTS (SELECT 1 FROM grants WHERE corpus_id = corpora.id AND principal IN ({_PRINCIPALS}))"
_IS_AMONG_GRANTED = f"id IN (SELECT corpus_id FROM grants WHERE principal IN ({_PRINCIPALS}))"


def bind_principals(principals: Principals) -> dict[str, str]:
    """What the conditions compare with: one value for any number of principals, so that statements stay prepared."""
    return {} if principals is None else {"principals": json.dumps(sorted(principals))}


def is_writable(principals: Principals) -> str:
    """Condition: the corpus is the principals' own."""
    return "TRUE" if principals is None else _IS_OWNER


def is_readable(principals: Principals) -> str:
    """Condition on one corpus found by its name: it is the principals' own, or granted to one of them."""
    return "TRUE" if principals is None else f"({_IS_OWNER} OR {_IS_GRANTED})"


def is_among_readable(principals: Principals) -> str:
    """As ``is_readable``, to find all such corpora: SQLite goes from the principals to them, past all others."""
    return "TRUE" if principals is None else f"({_IS_OWNER} OR {_IS_AMONG_GRANTED})"


def find_writable(connection: sqlite3.Connection, name: str, principals: Principals) -> OpenCorpus:
    """The corpus, to be written.

    Raises:
        CorpusNotFound: there is none of that name, or the principals may not write it; both are told alike.
    """
    row = connection.execute(
        f"""SELECT id, name, embedding_model, dimension, version FROM corpora
            WHERE name = :name AND {is_writable(principals)}""",
        {"name": name, **bind_principals(principals)},
    ).fetchone()
    if row is None:
        raise CorpusNotFound(name)
    return OpenCorpus(*row)


class CorpusRights:
    """Owner and grants of one corpus, for those who may write it; raises ``CorpusNotFound`` for others.

    Changes are part of the transaction that the connection is in.
    """

    def __init__(self, connection: sqlite3.Connection, name: str, principals: Principals) -> None:
        self._connection = connection
        self._corpus_id = find_writable(connection, name, principals).id

    def grants(self) -> list[Grant]:
        """By principal."""
        return [
            Grant(*row)
            for row in self._connection.execute(
                "SELECT principal, granted_at, granted_by FROM grants WHERE corpus_id = ? ORDER BY principal",
                (self._corpus_id,),
            )
        ]

    def grant(self, principal: str, granted_by: str) -> bool:
        """Let the principal read; False where it was granted before, which stays as it is."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        added = self._connection.execute(
            "INSERT INTO grants VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (self._corpus_id, principal, now, granted_by),
        )
        return added.rowcount == 1

    def revoke(self, principal: str) -> bool:
        """Take the grant back; False where there is none."""
        removed = self._connection.execute(
            "DELETE FROM grants WHERE corpus_id = ? AND principal = ?", (self._corpus_id, principal)
        )
        return removed.rowcount == 1

    def set_owner(self, user_id: str) -> bool:
        """Make the corpus the user's; False where it was."""
        changed = self._connection.execute(
            "UPDATE corpora SET owner = :owner WHERE id = :corpus AND owner <> :owner",
            {"owner": user_id, "corpus": self._corpus_id},
        )
        return changed.rowcount == 1
