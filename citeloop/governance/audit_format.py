"""The format of the audit log's file, a number kept in it: 0 is a new file or one of the first format."""

import sqlite3
from pathlib import Path
from typing import Final

from citeloop.errors import StoreVersionMismatch

FORMAT: Final = 2
# A new file first gets an empty table, so that it and an older one go the same way. The first format allowed the events
# 'asked' and 'ended' alone, by a CHECK, which SQLite cannot alter: the rows move to a table without one.
_UPGRADE = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS audit (seq, at, request_id, event, body, previous_hash, hash);
CREATE TABLE new_audit (
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    request_id TEXT NOT NULL,
    event TEXT NOT NULL,
    body TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO new_audit SELECT seq, at, request_id, event, body, previous_hash, hash FROM audit ORDER BY seq;
DROP TABLE audit;
ALTER TABLE new_audit RENAME TO audit;
CREATE INDEX audit_request ON audit (request_id, event);
PRAGMA user_version = {FORMAT};
COMMIT;
"""


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file, or those of an older one anew: whole or, when the process is killed, not at all.

    Rows stay as they are, tampered ones too. One process at a time; those that have the file open go on.

    Raises:
        StoreVersionMismatch: a later citeloop wrote the file.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > FORMAT:
        raise StoreVersionMismatch(f"{path} has format {version}, this citeloop writes {FORMAT}; use the later one")
    if version < FORMAT:
        connection.executescript(_UPGRADE)
