"""A process that is killed while it reads relations, at any point, and the run after it."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.knowledge_stack import CALLER, ELSEWHERE, KnowledgeStack, fingerprint, open_stack
from tests.openai_stub import OpenAIStub
from tests.relation_reading import indexer_over, read_by_pattern, write_films

FILMS = [f"Film X{number}" for number in range(12)]
KILLED_RUN = """
import os, signal, sqlite3, sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from tests.integration.knowledge_stack import CALLER, open_stack
from tests.relation_reading import indexer_over

home, url, statement, turn = sys.argv[1:]
connect, met = sqlite3.connect, 0

def traced(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.set_trace_callback(die)
    return connection

def die(executed):
    global met
    met += statement in executed
    if met == int(turn):
        os.kill(os.getpid(), signal.SIGKILL)

stack = open_stack(Path(home))
stack.store.close()
sqlite3.connect = traced
indexer_over(stack, SimpleNamespace(base_url=url)).read("handbook", CALLER, calls=2)
"""
POINTS = [
    ("FROM chunks c LEFT JOIN relation_readings", 1),
    ("INSERT OR REPLACE INTO relation_readings", 1),
    ("INSERT OR IGNORE INTO relations", 5),
    ("UPDATE corpora SET version", 3),
    ("COMMIT", 1),
    ("COMMIT", 4),
    ("BEGIN IMMEDIATE", 5),
]


@pytest.fixture
def stub() -> Iterator[OpenAIStub]:
    with OpenAIStub(answer=read_by_pattern) as stub:
        yield stub


def indexed(home: Path, files: Path) -> KnowledgeStack:
    stack = open_stack(home)
    stack.indexer.index([files], "handbook", CALLER)
    return stack


@pytest.mark.parametrize(("statement", "turn"), POINTS)
def test_killed_and_run_again_it_ends_as_one_clean_run(
    home: Path, tmp_path: Path, stub: OpenAIStub, statement: str, turn: int
) -> None:
    files = write_films(tmp_path / "files", *FILMS)
    indexed(home, files).store.close()
    command = [sys.executable, "-c", KILLED_RUN, str(home), stub.base_url, statement, str(turn)]
    ended = subprocess.run(command, env=ELSEWHERE, capture_output=True, timeout=120)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-2000:]

    again, clean = open_stack(home), indexed(tmp_path / "clean", files)
    stored = again.store.corpus_summary(again.corpus()).relations
    del stub.requests[:]
    report = indexer_over(again, stub).read("handbook", CALLER)
    assert report.to_read == len(stub.requests) == len(FILMS) - stored, "what was stored is not paid for again"
    indexer_over(clean, stub).read("handbook", CALLER)
    assert fingerprint(again) == fingerprint(clean)
