"""Several processes on one home folder: readers beside a writer, a writer beside a writer."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from citeloop.errors import StoreBusy, StoreError
from tests.integration.knowledge_stack import (
    CALLER,
    ELSEWHERE,
    KnowledgeStack,
    fingerprint,
    open_stack,
    write_documents,
)

WRITER = """
import sys
from pathlib import Path
from tests.integration.knowledge_stack import CALLER, open_stack
from citeloop.knowledge import ingest_run

ingest_run._CHUNKS_AT_A_TIME = 8

def wait(step):
    print(step.documents, flush=True)
    sys.stdin.readline()

stack = open_stack(Path(sys.argv[1]))
stack.indexer.index([Path(sys.argv[2])], "handbook", CALLER, progress=wait)
"""


class Writer:
    """An indexing process that stops at each step of its progress until it is told to go on."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def next_step(self) -> str:
        """What the process told at its next stop, empty at its end."""
        assert self._process.stdout
        return self._process.stdout.readline()

    def go_on(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def finish(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("\n" * 1000)
        self._process.stdin.close()
        assert self._process.stdout
        self._process.stdout.read()
        assert self._process.wait(60) == 0


@contextmanager
def writer(home: Path, files: Path) -> Iterator[Writer]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home), str(files)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ELSEWHERE,
    )
    with process:
        try:
            yield Writer(process)
        finally:
            process.kill()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    write_documents(folder, 12)
    return folder


@pytest.fixture
def reader(home: Path) -> KnowledgeStack:
    """A long-lived reader of a small corpus, which has searched before anybody else writes."""
    stack = open_stack(home)
    start = home.parent / "start"
    write_documents(start, 2, edition="zeroth")
    stack.indexer.index([start], "handbook", CALLER)
    shutil.rmtree(start)  # its names are free for other folders
    assert fingerprint(stack)["dense"]
    return stack


def test_a_reader_is_answered_while_another_process_writes(reader: KnowledgeStack, home: Path, files: Path) -> None:
    sizes = []
    with writer(home, files) as other:
        while other.next_step():
            seen = fingerprint(reader)
            assert set(seen["dense"]) == seen["lexical"] == set(seen["chunks"])
            sizes.append(len(seen["chunks"]))
            other.go_on()
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 2


def test_a_long_lived_reader_sees_what_another_process_wrote(
    reader: KnowledgeStack, home: Path, files: Path, tmp_path: Path
) -> None:
    with writer(home, files) as other:
        other.finish()
    clean = open_stack(tmp_path / "clean")
    clean.indexer.index([files], "handbook", CALLER)
    assert fingerprint(reader) == fingerprint(clean)


def test_a_writer_takes_up_what_another_process_wrote(
    reader: KnowledgeStack, home: Path, files: Path, tmp_path: Path
) -> None:
    with writer(home, files) as other:
        other.finish()
    write_documents(files / "more", 3)
    clean = open_stack(tmp_path / "clean")
    for stack in (reader, clean):
        stack.indexer.index([files], "handbook", CALLER)
    assert fingerprint(reader) == fingerprint(clean)
    assert fingerprint(open_stack(home)) == fingerprint(clean)


def test_a_second_writer_is_told_to_wait_and_disturbs_nothing(
    reader: KnowledgeStack, home: Path, files: Path, tmp_path: Path
) -> None:
    with writer(home, files) as other:
        other.next_step()
        with pytest.raises(StoreBusy, match="wait until it has ended") as caught:
            reader.indexer.index([files], "handbook", CALLER)
        assert caught.value.retryable
        other.finish()
    assert reader.indexer.index([files], "handbook", CALLER).unchanged == 12


def test_two_processes_that_make_the_home_at_once_both_get_a_store(home: Path) -> None:
    make = """
import sys
from pathlib import Path
from tests.integration.knowledge_stack import open_stack
open_stack(Path(sys.argv[1]))
"""
    processes = [subprocess.Popen([sys.executable, "-c", make, str(home)], env=ELSEWHERE) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert open_stack(home).store.open_corpora(None, CALLER) == []


def test_a_child_forked_after_a_search_searches_and_ends(reader: KnowledgeStack, home: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from tests.integration.knowledge_stack import fingerprint, open_stack
stack = open_stack(Path(sys.argv[1]))
before = fingerprint(stack)
child = os.fork()
if child == 0:
    sys.exit(0 if fingerprint(stack) == before else 7)  # an orderly exit frees what the parent had opened
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ended = subprocess.run([sys.executable, "-c", script, str(home)], env=ELSEWHERE, timeout=60)
    assert ended.returncode == 0


def test_a_home_that_cannot_be_written_to_gives_one_clear_error(
    reader: KnowledgeStack, home: Path, files: Path
) -> None:
    (home / "write.lock").unlink(missing_ok=True)
    (home / "write.lock").mkdir()  # no user, not even root, can open it for writing
    with pytest.raises(StoreError, match=r"cannot be written to.*CITELOOP_HOME"):
        reader.indexer.index([files], "handbook", CALLER)
