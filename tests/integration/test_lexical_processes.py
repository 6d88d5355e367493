"""The keyword index under several processes: commits seen, kills survived, forks, two writers."""

import subprocess
import sys
from pathlib import Path

import pytest

from citeloop.errors import StoreBusy
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.retrieval.lexical import TantivyLexicalIndex

CORPUS = OpenCorpus(id="handbook-id", name="handbook", embedding_model="m", dimension=3, version=1)
PREAMBLE = """
import os, sys
from pathlib import Path
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.retrieval.lexical import TantivyLexicalIndex
corpus = OpenCorpus(id="handbook-id", name="handbook", embedding_model="m", dimension=3, version=1)
index = TantivyLexicalIndex(Path(sys.argv[1]))
"""
WRITE_BATCHES = f"""{PREAMBLE}
for batch in range(int(sys.argv[2])):
    index.upsert(corpus, [(f"{{batch}}-{{n}}", "zeppelin " * 50) for n in range(40)])
    print(batch + 1, flush=True)
"""
FORK_AND_WRITE = f"""{PREAMBLE}
assert index.search(corpus, {{"leav": 1.0}}, 5)
child = os.fork()
if child == 0:
    index.upsert(corpus, [("child", "zeppelin")])
else:
    assert os.waitpid(child, 0)[1] == 0
assert len(index.search(corpus, {{"zeppelin": 1.0}}, 5)) == 1
"""


def found(index: TantivyLexicalIndex, term: str) -> list[str]:
    return [hit.chunk_id for hit in index.search(CORPUS, {term: 1.0}, 100_000)]


def start(script: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def index(tmp_path: Path) -> TantivyLexicalIndex:
    index = TantivyLexicalIndex(tmp_path)
    index.upsert(CORPUS, [("leave", "Annual leave is 28 days.")])
    return index


def test_an_open_index_sees_what_another_process_commits(index: TantivyLexicalIndex, tmp_path: Path) -> None:
    assert found(index, "zeppelin") == []
    with start(WRITE_BATCHES, tmp_path, 2) as writer:
        assert writer.wait(60) == 0
    assert len(found(index, "zeppelin")) == 80


@pytest.mark.parametrize("batches_before", [1, 3])
def test_a_killed_writer_leaves_whole_commits_and_no_lock(
    index: TantivyLexicalIndex, tmp_path: Path, batches_before: int
) -> None:
    with start(WRITE_BATCHES, tmp_path, 10_000) as writer:
        assert writer.stdout is not None
        seen = [int(writer.stdout.readline()) for _ in range(batches_before)][-1]
        writer.kill()
    rows = len(found(index, "zeppelin"))
    assert rows >= seen * 40
    assert rows % 40 == 0
    index.upsert(CORPUS, [("travel", "Trains are booked in second class.")])
    assert found(TantivyLexicalIndex(tmp_path), "train") == ["travel"]


def test_an_index_opened_before_a_fork_reads_and_writes_after_it(index: TantivyLexicalIndex, tmp_path: Path) -> None:
    with start(FORK_AND_WRITE, tmp_path) as forking:
        assert forking.wait(60) == 0
    assert found(index, "zeppelin") == ["child"]


def test_a_second_writer_is_told_that_the_index_is_busy(index: TantivyLexicalIndex, tmp_path: Path) -> None:
    import tantivy

    held = tantivy.Index.open(str(tmp_path / CORPUS.id)).writer(15_000_000, 1)
    with pytest.raises(StoreBusy, match="'handbook'"):
        index.upsert(CORPUS, [("travel", "Trains")])
    assert found(index, "leav") == ["leave"]  # reading goes on
    held.wait_merging_threads()
    index.upsert(CORPUS, [("travel", "Trains")])
    assert found(index, "train") == ["travel"]
