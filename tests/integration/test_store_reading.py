"""Reading the knowledge store: what stands where, who may see it, from any thread and after a fork."""

import json
import os
import sqlite3
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from citeloop.errors import CorpusNotFound, StoreCorrupt, StoreError, StoreVersionMismatch
from citeloop.knowledge.embedding import require_embedding_model
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.retrieval.exact import ExactVectorSearch
from citeloop.state.models import UserContext
from tests.integration.knowledge_stack import CALLER, HashEmbedder, KnowledgeStack, open_stack

GUIDE = """# Guide

Read this first. It is short.

## Tools

Bring a hammer. Bring nails too.

## Safety

Wear a helmet.
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "guide.md").write_text(GUIDE, encoding="utf-8")
    (folder / "note.txt").write_text("Ein Zettel über 漢字. Noch ein Satz.", encoding="utf-8")
    return folder


@pytest.fixture
def stack(home: Path, files: Path) -> KnowledgeStack:
    stack = open_stack(home)
    stack.indexer.index([files], "handbook", CALLER)
    return stack


def test_a_chunk_tells_where_it_stands(stack: KnowledgeStack) -> None:
    chunks = {chunk.heading_path: chunk for chunk in stack.chunks() if chunk.uri == "guide.md"}
    tools = chunks["Guide", "Tools"]
    assert GUIDE[tools.start : tools.end] == tools.text
    assert "hammer" in tools.text
    assert (tools.title, tools.corpus) == ("Guide", "handbook")
    assert [chunk.position for chunk in chunks.values()] == list(range(len(chunks)))


def test_chunks_come_in_the_order_asked_for_and_unknown_ones_are_left_out(stack: KnowledgeStack) -> None:
    ids = [chunk.id for chunk in stack.chunks()]
    asked = [ids[2], "no-such-chunk", ids[0]]
    assert [chunk.id for chunk in stack.store.read_chunks(stack.corpus(), asked)] == [ids[2], ids[0]]
    assert stack.store.read_chunks(stack.corpus(), []) == []


def test_sentences_keep_their_place_and_their_vector(stack: KnowledgeStack) -> None:
    for chunk in stack.chunks():
        stored = stack.store.read_chunks_with_sentences(stack.corpus(), [chunk.id])[0][1]
        texts = [chunk.text[start:end] for start, end in stored.spans]
        assert texts
        assert stored.vectors.dtype == np.float32
        np.testing.assert_allclose(stored.vectors, stack.embedder.embed(texts), atol=1e-3)


def test_a_chunk_is_embedded_with_its_title_and_headings(stack: KnowledgeStack) -> None:
    vectors = {i: v for ids, rows in stack.store.scan_vectors(stack.corpus()) for i, v in zip(ids, rows, strict=True)}
    tools = next(chunk for chunk in stack.chunks() if chunk.heading_path == ("Guide", "Tools"))
    expected = stack.embedder.embed([f"Guide > Tools\n{tools.text}"])[0]
    np.testing.assert_array_equal(vectors[tools.id], expected)


def test_the_scan_meets_every_chunk_once_in_bounded_batches(stack: KnowledgeStack) -> None:
    batches = list(stack.store.scan_vectors(stack.corpus(), batch_size=2))
    assert all(len(ids) == len(rows) <= 2 for ids, rows in batches)
    seen = [chunk_id for ids, _ in batches for chunk_id in ids]
    assert len(seen) == len(set(seen)) == stack.store.corpus_summary(stack.corpus()).chunks > 2


def test_the_exact_search_finds_what_the_index_finds(stack: KnowledgeStack) -> None:
    probe = stack.embedder.embed(["probe"])[0]
    exact, dense = (
        search.search(stack.corpus(), probe, 3) for search in (ExactVectorSearch(stack.store), stack.vectors)
    )
    assert [hit.chunk_id for hit in exact] == [hit.chunk_id for hit in dense]
    assert [hit.score for hit in exact] == pytest.approx([hit.score for hit in dense], abs=1e-5)


def test_neighbours_and_sections_stay_within_the_document(stack: KnowledgeStack) -> None:
    guide = [chunk for chunk in stack.chunks() if chunk.uri == "guide.md"]
    around = stack.store.neighbours(stack.corpus(), [guide[1].id], radius=1)
    assert [chunk.id for chunk in around] == [guide[0].id, guide[2].id]
    assert stack.store.neighbours(stack.corpus(), [guide[0].id, guide[1].id], radius=0) == []
    assert stack.store.section_chunks(stack.corpus(), [guide[1].id]) == []


def test_what_stands_around_a_chunk_is_looked_up_not_searched_for(
    stack: KnowledgeStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[str] = []

    def explain(statement: str, values: Mapping[str, str | int]) -> list[tuple[object, ...]]:
        with stack.store.file.reading() as connection:
            plans.extend(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values))
        return []

    corpus, asked = stack.corpus(), [stack.chunks()[0].id]
    monkeypatch.setattr(stack.store, "_all", explain)
    stack.store.neighbours(corpus, asked, radius=1)
    assert any("(document_id=? AND position>? AND position<?)" in step for step in plans)
    stack.store.section_chunks(corpus, asked)
    stack.store.read_chunks(corpus, asked)
    scanned = {step.split()[1] for step in plans if step.startswith("SCAN")}
    assert scanned == {"asked", "json_each"}  # the ids given and the chunks they name, nothing larger
    assert not [step for step in plans if "CORRELATED" in step or "chunks_of_corpus" in step]


def test_the_rest_of_a_long_section_is_found(stack: KnowledgeStack, files: Path) -> None:
    paragraphs = "\n\n".join(f"Paragraph {n}. " + "All of it matters a great deal. " * 20 for n in range(4))
    (files / "long.md").write_text(f"# Long\n\n{paragraphs}\n\n# Other\n\nElsewhere.\n", encoding="utf-8")
    stack.indexer.index([files], "handbook", CALLER)
    chunks = [chunk for chunk in stack.chunks() if chunk.heading_path == ("Long",)]
    assert len(chunks) > 2
    found = stack.store.section_chunks(stack.corpus(), [chunks[1].id])
    assert [chunk.id for chunk in found] == [chunk.id for chunk in chunks if chunk is not chunks[1]]


def test_a_denied_corpus_looks_like_a_missing_one(stack: KnowledgeStack) -> None:
    store, eve = stack.store, UserContext(user_id="eve")
    told = []
    for name in ("handbook", "nowhere"):
        for ask in (store.open_corpus, lambda name, caller: store.open_corpora([name], caller)):
            with pytest.raises(CorpusNotFound) as caught:
                ask(name, eve)
            told.append(str(caught.value).replace(name, "NAME"))
    assert len(set(told)) == 1
    assert store.open_corpora(None, eve) == []
    assert [corpus.name for corpus in store.open_corpora(None, CALLER)] == ["handbook"]


def test_chunks_of_another_corpus_are_not_read(stack: KnowledgeStack, files: Path) -> None:
    stack.indexer.index([files], "other", CALLER)
    foreign = [chunk.id for chunk in stack.chunks("other")]
    corpus = stack.corpus("handbook")
    assert stack.store.read_chunks(corpus, foreign) == []
    assert stack.store.read_chunks_with_sentences(corpus, foreign) == []
    assert stack.store.neighbours(corpus, foreign, radius=9) == []
    assert stack.store.section_chunks(corpus, foreign) == []


def test_many_threads_read_at_once_and_so_does_a_forked_child(stack: KnowledgeStack) -> None:
    corpus, ids = stack.corpus(), [chunk.id for chunk in stack.chunks()]
    probe = stack.embedder.embed(["probe"])[0]

    def read(_: int) -> tuple[int, int]:
        return len(stack.store.read_chunks(corpus, ids)), len(stack.vectors.search(corpus, probe, 50))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(read, range(64))) == {(len(ids), len(ids))}
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(sending, json.dumps(read(0)).encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as answer:
        assert json.load(answer) == [len(ids), len(ids)]
    assert os.waitpid(child, 0)[1] == 0


def test_another_model_is_told_apart_also_at_the_same_dimension(stack: KnowledgeStack) -> None:
    require_embedding_model(stack.corpus(), HashEmbedder())
    with pytest.raises(StoreError, match="CITELOOP_EMBEDDING_MODEL=hash"):
        require_embedding_model(stack.corpus(), HashEmbedder(model_id="newer"))


def test_a_file_that_is_no_store_of_ours_is_refused(tmp_path: Path) -> None:
    for name, content in (("text", b"not a database, but long enough to look like one " * 20), ("empty", b"")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "store.db").write_bytes(content)
        with pytest.raises(StoreCorrupt, match=r"store\.db"):
            HierarchicalKnowledgeStore(tmp_path / name)


def test_a_store_of_another_format_is_refused_with_the_way_out(home: Path) -> None:
    HierarchicalKnowledgeStore(home).close()
    connection = sqlite3.connect(home / "store.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreVersionMismatch, match="new home folder"):
        HierarchicalKnowledgeStore(home)


def test_a_damaged_store_gives_one_clear_error(stack: KnowledgeStack, home: Path) -> None:
    stack.store.close()
    connection = sqlite3.connect(home / "store.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # else the log beside the file still answers
    connection.close()
    with (home / "store.db").open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(40 * 4096))
    with pytest.raises(StoreCorrupt, match="cannot be read"):
        HierarchicalKnowledgeStore(home).open_corpus("handbook", CALLER)
