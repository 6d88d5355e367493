"""A knowledge store with both its indexes and a small embedder, for the tests of storing and indexing."""

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from citeloop.knowledge.corpus import Chunk, OpenCorpus
from citeloop.knowledge.ingest import Indexer
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Vectors
from citeloop.retrieval.dense import ChromaVectorIndex
from citeloop.retrieval.exact import ExactVectorSearch
from citeloop.retrieval.lexical import TantivyLexicalIndex
from citeloop.state.models import UserContext
from citeloop.text.words import content_stems

ELSEWHERE = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
"""Environment of another Python process that finds what this one finds."""
CALLER = UserContext(user_id="ann")
DIMENSION = 16


class HashEmbedder:
    """A unit vector for each text, told apart by the text's hash alone; counts what it is asked for."""

    def __init__(self, model_id: str = "hash", dimension: int = DIMENSION) -> None:
        self.model_id = model_id
        self.dimension = dimension
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return np.array([self._vector(text) for text in texts], np.float32).reshape(-1, self.dimension)

    def _vector(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
        vector = np.random.default_rng(seed).normal(size=self.dimension)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@dataclass(frozen=True)
class KnowledgeStack:
    store: HierarchicalKnowledgeStore
    vectors: ChromaVectorIndex
    words: TantivyLexicalIndex
    embedder: HashEmbedder
    indexer: Indexer

    def corpus(self, name: str = "handbook") -> OpenCorpus:
        return self.store.open_corpus(name, CALLER)

    def chunks(self, name: str = "handbook") -> list[Chunk]:
        """All chunks of a corpus."""
        corpus = self.corpus(name)
        ids = [chunk_id for batch, _ in self.store.scan_vectors(corpus) for chunk_id in batch]
        return self.store.read_chunks(corpus, ids)


def open_stack(home: Path, embedder: HashEmbedder | None = None) -> KnowledgeStack:
    store = HierarchicalKnowledgeStore(home)
    vectors = ChromaVectorIndex(home / "vectors", after_fork=ExactVectorSearch(store))
    words = TantivyLexicalIndex(home / "lexical")
    embedder = embedder or HashEmbedder()
    return KnowledgeStack(store, vectors, words, embedder, Indexer(store, vectors, words, embedder))


def write_documents(folder: Path, count: int, paragraphs: int = 2, edition: str = "first") -> None:
    """Markdown files, each chunk of which holds the word ``notebook``."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        body = "\n\n".join(
            f"## Part {part}\n\nNotebook {number} holds remark {part} of the {edition} edition. It was kept with care."
            for part in range(paragraphs)
        )
        (folder / f"book{number:03}.md").write_text(f"# Book {number}\n\n{body}\n", encoding="utf-8")


def fingerprint(stack: KnowledgeStack, name: str = "handbook") -> dict[str, object]:
    """Everything that a clean run would leave: rows, vectors, sentences, and what both indexes hold and return."""
    corpus, chunks = stack.corpus(name), stack.chunks(name)
    ids = [chunk.id for chunk in chunks]
    sentences = {c.id: stored for c, stored in stack.store.read_chunks_with_sentences(corpus, ids)}
    vectors = {
        i: v.tobytes() for batch, rows in stack.store.scan_vectors(corpus) for i, v in zip(batch, rows, strict=True)
    }
    probe = stack.embedder.embed(["probe"])[0]
    (term,) = content_stems("notebook")
    return {
        "chunks": {chunk.id: chunk for chunk in chunks},
        "vectors": vectors,
        "sentences": {i: (s.spans, s.vectors.tobytes()) for i, s in sentences.items()},
        "entities": entities(stack, corpus),
        "relations": relations(stack, corpus),
        "dense": {hit.chunk_id: round(hit.score, 5) for hit in stack.vectors.search(corpus, probe, 10_000)},
        "lexical": {hit.chunk_id for hit in stack.words.search(corpus, {term: 1.0}, 10_000)},
    }


def entities(stack: KnowledgeStack, corpus: OpenCorpus) -> dict[str, set[tuple[str, int]]]:
    """Each entity of the corpus by its form: the chunks that it leads to, with its role there."""
    with stack.store.file.reading() as connection:
        rows = connection.execute(
            """SELECT e.form, c.id, m.role FROM entities e LEFT JOIN mentions m ON m.entity_id = e.id
                      LEFT JOIN chunks c ON c.row = m.chunk_row WHERE e.corpus_id = ?""",
            (corpus.id,),
        ).fetchall()
    found: dict[str, set[tuple[str, int]]] = {}
    for form, chunk_id, role in rows:
        found.setdefault(form, set()).add((chunk_id, role))
    return found


def relations(stack: KnowledgeStack, corpus: OpenCorpus) -> dict[str, set[tuple[str, str, str]] | str]:
    """What was read of each chunk that was read for relations; of one that failed, why."""
    with stack.store.file.reading() as connection:
        readings = connection.execute(
            """SELECT c.id, r.failure FROM relation_readings r JOIN chunks c ON c.row = r.chunk_row
               WHERE c.corpus_id = ?""",
            (corpus.id,),
        ).fetchall()
        rows = connection.execute(
            """SELECT c.id, r.subject, r.relation, r.object FROM relations r JOIN chunks c ON c.row = r.chunk_row
               WHERE r.corpus_id = ?""",
            (corpus.id,),
        ).fetchall()
    return {
        chunk_id: failure or {(subject, relation, target) for of, subject, relation, target in rows if of == chunk_id}
        for chunk_id, failure in readings
    }
