"""A process that is killed while it indexes, at any point, and the run after it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from citeloop.errors import StoreCorrupt
from tests.integration.knowledge_stack import CALLER, ELSEWHERE, fingerprint, open_stack, write_documents

KILLED_RUN = """
import os, signal, sys
from importlib import import_module
from pathlib import Path
from tests.integration.knowledge_stack import CALLER, open_stack
from citeloop.knowledge import ingest_run

home, files, module, owner, method, moment, turn = sys.argv[1:]
ingest_run._CHUNKS_AT_A_TIME = 8

def die():
    os.kill(os.getpid(), signal.SIGKILL)

target, calls = getattr(import_module(module), owner), 0
inner = getattr(target, method)

def outer(*args, **more):
    global calls
    calls += 1
    if calls == int(turn) and moment == "before":
        die()
    result = inner(*args, **more)
    if calls == int(turn) and moment == "after":
        die()
    return result

setattr(target, method, outer)
open_stack(Path(home)).indexer.index([Path(files)], "handbook", CALLER, prune=True)
"""
STORE = ("citeloop.knowledge.store_writer", "StoreWriter")
JOURNAL = ("citeloop.knowledge.index_journal", "IndexJournal")
DENSE = ("citeloop.retrieval.dense", "ChromaVectorIndex")
CHROMA = ("chromadb.api.models.Collection", "Collection")  # inside a write: its graph may be half on the disk
LEXICAL = ("citeloop.retrieval.lexical", "TantivyLexicalIndex")
ENTITIES = ("citeloop.knowledge.entity_writer", "EntityWriter")
POINTS = [
    (STORE, "create_corpus", "after", 1),
    (STORE, "_insert", "after", 7),
    (STORE, "put_documents", "before", 2),
    (STORE, "put_documents", "after", 1),
    (STORE, "remove_documents", "after", 1),
    (DENSE, "delete", "after", 1),
    (DENSE, "upsert", "before", 2),
    (DENSE, "upsert", "after", 1),
    (CHROMA, "add", "before", 1),
    (CHROMA, "add", "after", 2),
    (CHROMA, "delete", "after", 1),
    (LEXICAL, "delete", "after", 1),
    (LEXICAL, "upsert", "after", 2),
    (ENTITIES, "link", "after", 3),
    (ENTITIES, "unlink", "after", 2),
    (JOURNAL, "_strike", "after", 1),
]


def run_killed(home: Path, files: Path, point: tuple[tuple[str, str], str, str, int]) -> None:
    owner, method, moment, turn = point
    arguments = [str(home), str(files), *owner, method, moment, str(turn)]
    ended = subprocess.run(
        [sys.executable, "-c", KILLED_RUN, *arguments], env=ELSEWHERE, capture_output=True, timeout=120
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-2000:]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Ten documents; with ``second_edition`` of them some have changed, some are gone, some are new."""
    folder = tmp_path / "files"
    write_documents(folder, 10)
    return folder


def second_edition(files: Path) -> None:
    write_documents(files, 4, paragraphs=1, edition="second")  # fewer chunks than before
    write_documents(files / "new", 3)
    for number in (7, 8):
        (files / f"book{number:03}.md").unlink()


@pytest.mark.parametrize("point", POINTS, ids=lambda point: "-".join(map(str, (point[0][1], *point[1:]))))
def test_killed_while_replacing_and_run_again(home: Path, files: Path, tmp_path: Path, point) -> None:
    if point[1] != "create_corpus":
        open_stack(home).indexer.index([files], "handbook", CALLER)
        second_edition(files)
    run_killed(home, files, point)

    again, clean = open_stack(home), open_stack(tmp_path / "clean")
    for stack in (again, clean):
        stack.indexer.index([files], "handbook", CALLER, prune=True)
    assert fingerprint(again) == fingerprint(clean)


def test_killed_three_times_in_a_first_run(home: Path, files: Path, tmp_path: Path) -> None:
    for point in ((DENSE, "upsert", "after", 1), (CHROMA, "add", "after", 1), (LEXICAL, "upsert", "before", 1)):
        run_killed(home, files, point)
    again, clean = open_stack(home), open_stack(tmp_path / "clean")
    for stack in (again, clean):
        stack.indexer.index([files], "handbook", CALLER)
    assert fingerprint(again) == fingerprint(clean)


def test_after_a_kill_a_reader_gets_the_last_state_or_a_clear_error(home: Path, files: Path) -> None:
    reader = open_stack(home)
    reader.indexer.index([files], "handbook", CALLER)
    probe = reader.embedder.embed(["probe"])[0]
    held = {hit.chunk_id for hit in reader.vectors.search(reader.corpus(), probe, 100)}
    second_edition(files)
    run_killed(home, files, (CHROMA, "add", "after", 1))

    assert {hit.chunk_id for hit in reader.vectors.search(reader.corpus(), probe, 100)} == held
    with pytest.raises(StoreCorrupt, match="citeloop index"):
        open_stack(home).vectors.search(reader.corpus(), probe, 100)
    assert len(reader.chunks()) > 0


def test_work_done_before_the_kill_is_not_done_again(home: Path, files: Path) -> None:
    run_killed(home, files, (STORE, "put_documents", "before", 3))
    again = open_stack(home)
    report = again.indexer.index([files], "handbook", CALLER)
    assert report.unchanged > 0
    assert report.added + report.unchanged == 10
