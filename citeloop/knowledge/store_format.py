"""The format of the store's file, a number kept in it: format 1 is ``schema.sql``, each later one a script on top."""

import sqlite3
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from citeloop.errors import StoreCorrupt, StoreVersionMismatch

APPLICATION_ID = 0x63746C70  # "ctlp": tells a store of ours from any other SQLite file
_SCRIPTS = ("schema.sql", "upgrade_2_grants.sql", "upgrade_3_entities.sql", "upgrade_4_relations.sql")
"""The n-th makes format n of format n - 1. Files made by them exist: they are never changed, only added to."""
FORMAT = len(_SCRIPTS)


def read_format(connection: sqlite3.Connection, path: Path) -> int:
    """The format of the file, from 1 to ``FORMAT``.

    Raises:
        StoreCorrupt: it is no store of ours.
        StoreVersionMismatch: a later citeloop wrote it.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise StoreCorrupt(f"{path} is not a citeloop store; choose another home folder (CITELOOP_HOME)")
    if not 1 <= version <= FORMAT:
        raise StoreVersionMismatch(
            f"{path} has format {version}, this citeloop reads formats 1 to {FORMAT}; "
            "use the citeloop that wrote it, or index the documents again in a new home folder (CITELOOP_HOME)"
        )
    return int(version)


def create_store(path: Path) -> None:
    """Make an empty store of the newest format in a new file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        upgrade(connection, 0)
        connection.execute("PRAGMA journal_mode = WAL")


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Bring a file of format ``version`` to ``FORMAT``: whole or, when the process is killed, not at all."""
    scripts = [files("citeloop.knowledge").joinpath(name).read_text("utf-8") for name in _SCRIPTS[version:]]
    # The transaction stands in the script, as `executescript` would commit one that was begun before it.
    connection.executescript("\n".join(["BEGIN IMMEDIATE;", *scripts, f"PRAGMA user_version = {FORMAT};", "COMMIT;"]))
