"""The Chroma index: scores, replacing, removing, many threads, what is left of a fork."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from citeloop.errors import StoreCorrupt, UsageError
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.retrieval import chroma_client
from citeloop.retrieval.chroma_folder import ChromaFolder
from citeloop.retrieval.dense import ChromaVectorIndex

CORPUS = OpenCorpus(id="c0ffee00-0000-4000-8000-000000000001", name="a", embedding_model="m", dimension=3, version=1)
OTHER = OpenCorpus(id="c0ffee00-0000-4000-8000-000000000002", name="b", embedding_model="m", dimension=3, version=1)
NEAR, BESIDE, AGAINST = np.array([[1, 0, 0], [0.6, 0.8, 0], [-1, 0, 0]], np.float32)


@pytest.fixture
def index(tmp_path: Path) -> ChromaVectorIndex:
    index = ChromaVectorIndex(tmp_path / "vectors")
    index.upsert(CORPUS, ["against", "beside", "near"], np.array([AGAINST, BESIDE, NEAR]))
    return index


def test_scores_are_cosines_and_grow_with_nearness(index: ChromaVectorIndex) -> None:
    hits = index.search(CORPUS, NEAR, 5)
    assert [hit.chunk_id for hit in hits] == ["near", "beside", "against"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.6, -1.0], abs=1e-6)
    assert len(index.search(CORPUS, NEAR, 1)) == 1
    assert index.search(CORPUS, NEAR, 0) == []


def test_an_id_is_replaced_and_removed(index: ChromaVectorIndex) -> None:
    index.upsert(CORPUS, ["near"], np.array([AGAINST]))
    index.delete(CORPUS, ["beside", "unknown"])
    assert {hit.chunk_id: round(hit.score) for hit in index.search(CORPUS, NEAR, 5)} == {"near": -1, "against": -1}


def test_corpora_and_models_stay_apart(index: ChromaVectorIndex) -> None:
    index.upsert(OTHER, ["foreign"], np.array([NEAR]))
    renewed = OpenCorpus(CORPUS.id, CORPUS.name, embedding_model="m2", dimension=3, version=2)
    assert "foreign" not in {hit.chunk_id for hit in index.search(CORPUS, NEAR, 9)}
    assert index.search(renewed, NEAR, 9) == []


def test_more_rows_than_chroma_takes_at_once(index: ChromaVectorIndex) -> None:
    rows = np.random.default_rng(0).normal(size=(6000, 3)).astype(np.float32)
    index.upsert(OTHER, [f"r{n}" for n in range(6000)], rows / np.linalg.norm(rows, axis=1, keepdims=True))
    index.delete(OTHER, [f"r{n}" for n in range(5990)])
    assert len(index.search(OTHER, NEAR, 50)) == 10


def test_many_threads_search_many_corpora_at_once(index: ChromaVectorIndex, tmp_path: Path) -> None:
    index.upsert(OTHER, ["foreign"], np.array([NEAR]))
    fresh = ChromaVectorIndex(tmp_path / "vectors")  # all threads find it unopened
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: len(fresh.search((CORPUS, OTHER)[n % 2], NEAR, 9)), range(64)))
    assert found == [3, 1] * 32


def test_an_index_beside_it_sees_what_it_writes(index: ChromaVectorIndex, tmp_path: Path) -> None:
    beside = ChromaVectorIndex(tmp_path / "vectors")
    assert len(beside.search(CORPUS, NEAR, 9)) == 3
    index.delete(CORPUS, ["near"])
    assert len(beside.search(CORPUS, NEAR, 9)) == 2
    beside.upsert(CORPUS, ["new"], np.array([NEAR]))
    assert {hit.chunk_id for hit in index.search(CORPUS, NEAR, 9)} == {"new", "beside", "against"}


def test_dropping_leaves_nothing_behind(index: ChromaVectorIndex, tmp_path: Path) -> None:
    index.drop(CORPUS)
    index.drop(OTHER)
    assert index.search(CORPUS, NEAR, 9) == []
    assert not index.holds(CORPUS)
    assert not list((tmp_path / "vectors").glob("*/header.bin"))
    index.upsert(CORPUS, ["again"], np.array([NEAR]))
    assert [hit.chunk_id for hit in index.search(CORPUS, NEAR, 9)] == ["again"]


def test_a_damaged_graph_gives_one_clear_error(index: ChromaVectorIndex, tmp_path: Path) -> None:
    (tmp_path / "vectors" / "chroma.sqlite3").write_bytes(b"not a database " * 500)
    with pytest.raises(StoreCorrupt, match="citeloop index"):
        ChromaVectorIndex(tmp_path / "vectors").search(CORPUS, NEAR, 9)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forked_while_another_thread_opens_the_folder_does_not_hang(tmp_path: Path) -> None:
    folder = ChromaFolder(tmp_path / "vectors")
    with folder._opening:  # what another thread holds while it waits for the folder
        child = os.fork()
        if child == 0:
            os._exit(0 if folder._opening.acquire(timeout=5) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_child_forked_after_the_first_use_does_not_hang(
    index: ChromaVectorIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_client, "_started_in", -1)  # as it stands in a child
    with pytest.raises(UsageError, match="spawn"):
        index.search(CORPUS, NEAR, 9)
    with pytest.raises(UsageError, match="spawn"):
        index.upsert(CORPUS, ["x"], np.array([NEAR]))


def test_a_corpus_replaced_while_it_is_searched_is_searched_anew(
    index: ChromaVectorIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = index._chroma.read(CORPUS)
    beside = ChromaVectorIndex(tmp_path / "vectors")
    beside.drop(CORPUS)
    beside.upsert(CORPUS, ["new"], np.array([NEAR]))
    monkeypatch.setattr(index._chroma, "read", lambda corpus: loaded)  # as it was when the search began
    assert [hit.chunk_id for hit in index.search(CORPUS, NEAR, 9)] == ["new"]
    beside.drop(CORPUS)
    assert index.search(CORPUS, NEAR, 9) == []


def test_a_damaged_mark_counts_as_a_torn_write(index: ChromaVectorIndex, tmp_path: Path) -> None:
    (mark,) = (tmp_path / "vectors" / "marks").iterdir()
    mark.write_bytes(b"\xe8")
    assert not index.holds(CORPUS)
    with pytest.raises(StoreCorrupt, match="citeloop index"):
        ChromaVectorIndex(tmp_path / "vectors").search(CORPUS, NEAR, 9)


def test_a_folder_deleted_under_an_open_index_is_filled_anew(index: ChromaVectorIndex, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "vectors")
    assert not index.holds(CORPUS)
    index.upsert(CORPUS, ["again"], np.array([NEAR]))
    for beside in (index, ChromaVectorIndex(tmp_path / "vectors")):
        assert [hit.chunk_id for hit in beside.search(CORPUS, NEAR, 9)] == ["again"]
