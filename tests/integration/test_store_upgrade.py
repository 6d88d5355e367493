"""Stores that an earlier version wrote: brought up to date when opened, whole or not at all."""

import hashlib
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from filelock import FileLock

from citeloop.errors import StoreBusy, StoreVersionMismatch
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.knowledge.store_format import APPLICATION_ID, FORMAT
from citeloop.state.models import UserContext
from tests.integration.knowledge_stack import CALLER, ELSEWHERE, fingerprint, open_stack, write_documents

FORMAT_1 = "bbdf95ad563b43ad59dfd954cfd0ab8899288bf3b97d0df92909171c8886b44e"
"""Of the tables of format 1, as stores that were made with it hold them."""


@contextmanager
def opened(home: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(home / "store.db", isolation_level=None)) as connection:
        yield connection


def format_of(home: Path) -> int:
    with opened(home) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def tables(connection: sqlite3.Connection) -> str:
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    return "\n".join(sql for (sql,) in rows)


@pytest.fixture
def old_home(home: Path, tmp_path: Path) -> Path:
    """A home with an indexed corpus, its store of format 1: made by the script of then, filled with the rows of now."""
    write_documents(tmp_path / "files", 2)
    stack = open_stack(home)
    stack.indexer.index([tmp_path / "files"], "handbook", CALLER)
    stack.store.close()
    new, old = home / "store.db", home / "old.db"
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        connection.executescript(files("citeloop.knowledge").joinpath("schema.sql").read_text("utf-8"))
        connection.execute("ATTACH ? AS new", (str(new),))
        names = [name for (name,) in connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
        connection.execute("DELETE FROM main.version_counter")
        for name in names:
            connection.execute(f"INSERT INTO main.{name} SELECT * FROM new.{name}")
        connection.execute("DETACH new")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        connection.execute("PRAGMA journal_mode = WAL")
    for leftover in home.glob("store.db*"):
        leftover.unlink()
    old.rename(new)
    return home


def test_format_1_is_what_it_was(old_home: Path) -> None:
    with opened(old_home) as connection:
        assert hashlib.sha256(tables(connection).encode()).hexdigest() == FORMAT_1


def test_an_old_store_keeps_what_it_holds_and_can_be_granted(old_home: Path, tmp_path: Path) -> None:
    fresh, bob = tmp_path / "fresh", UserContext(user_id="bob")
    clean = open_stack(fresh)
    clean.indexer.index([tmp_path / "files"], "handbook", CALLER)
    stack = open_stack(old_home)
    held, wanted = fingerprint(stack), fingerprint(clean)
    assert (held.pop("entities"), held) == ({}, {name: of for name, of in wanted.items() if name != "entities"})
    assert stack.store.corpus_summary(stack.corpus()).owner == "ann"
    assert stack.store.open_corpora(None, bob) == []
    stack.store.grant("handbook", ["everyone"], CALLER)
    assert [corpus.name for corpus in stack.store.open_corpora(None, bob)] == ["handbook"]
    with opened(old_home) as old, opened(fresh) as new:
        assert tables(old) == tables(new)
    assert format_of(old_home) == format_of(fresh) == FORMAT
    texts = stack.embedder.texts
    assert stack.indexer.index([tmp_path / "files"], "handbook", CALLER).unchanged == 2
    assert fingerprint(stack) == wanted, "its names are read from the stored text"
    assert stack.embedder.texts <= texts + 2, "nothing is embedded anew but the probes"


KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from citeloop.knowledge.store import HierarchicalKnowledgeStore

connect = sqlite3.connect

def traced(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.set_trace_callback(die)
    return connection

def die(statement):
    if sys.argv[2] in statement:
        os.kill(os.getpid(), signal.SIGKILL)

sqlite3.connect = traced
HierarchicalKnowledgeStore(Path(sys.argv[1]))
"""


@pytest.mark.parametrize(
    "at",
    [
        "CREATE TABLE grants",
        "CREATE INDEX corpora_of_owner",
        "CREATE TABLE mentions",
        "CREATE TABLE relation_readings",
        f"PRAGMA user_version = {FORMAT}",
        "COMMIT",
    ],
)
def test_killed_in_the_middle_it_is_still_the_old_one_and_is_upgraded_next_time(old_home: Path, at: str) -> None:
    with opened(old_home) as connection:
        before = tables(connection)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(old_home), at], env=ELSEWHERE, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    with opened(old_home) as connection:
        assert (tables(connection), format_of(old_home)) == (before, 1)
    assert HierarchicalKnowledgeStore(old_home).grants("handbook", CALLER) == []
    assert format_of(old_home) == FORMAT


def test_processes_that_open_an_old_store_at_once_all_get_the_new_one(old_home: Path) -> None:
    opening = """
import sys
from pathlib import Path
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from tests.integration.knowledge_stack import CALLER
sys.stdin.readline()
assert HierarchicalKnowledgeStore(Path(sys.argv[1])).grants("handbook", CALLER) == []
"""
    command = [sys.executable, "-c", opening, str(old_home)]
    processes = [subprocess.Popen(command, env=ELSEWHERE, stdin=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        assert process.stdin
        process.stdin.close()
    assert [process.wait(60) for process in processes] == [0] * 4
    assert format_of(old_home) == FORMAT


def test_an_old_store_that_cannot_be_written_to_is_told(old_home: Path) -> None:
    (old_home / "write.lock").unlink(missing_ok=True)
    (old_home / "write.lock").mkdir()  # no user, not even root, can open it for writing
    with pytest.raises(StoreVersionMismatch, match=rf"format 1 .* format {FORMAT}: .* cannot be written to") as caught:
        HierarchicalKnowledgeStore(old_home)
    assert not caught.value.retryable
    assert format_of(old_home) == 1


def test_an_old_store_that_is_being_written_to_is_busy(old_home: Path) -> None:
    with FileLock(old_home / "write.lock"), pytest.raises(StoreBusy, match="wait until it has ended"):
        HierarchicalKnowledgeStore(old_home)
    assert format_of(old_home) == 1


@pytest.mark.parametrize("version", [0, FORMAT + 1])
def test_an_unknown_format_is_refused(old_home: Path, version: int) -> None:
    with opened(old_home) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(StoreVersionMismatch, match=f"format {version}, this citeloop reads formats 1 to {FORMAT}"):
        HierarchicalKnowledgeStore(old_home)
    assert format_of(old_home) == version
