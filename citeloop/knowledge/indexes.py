"""What the knowledge store asks of its two search indexes. Both are derived from the store and can be rebuilt from it.

All methods block: call them from a worker thread. Implementations are thread-safe for reading.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.models.embedder import Vectors


class VectorSearch(Protocol):
    """Nearest neighbours by cosine."""

    def search(self, corpus: OpenCorpus, query_vector: Vectors, top_k: int) -> list[Hit]:
        """The ``top_k`` nearest chunks of the corpus, best first; ``score`` is the cosine, in [-1, 1]."""


class VectorIndex(VectorSearch, Protocol):
    """An index of vectors (ADR-031, VectorIndex): one collection per corpus and embedding model."""

    def holds(self, corpus: OpenCorpus) -> bool:
        """Whether anything was ever written of the corpus and can be read; False also where a writer was killed midway.

        For the writer, which then drops what is there and writes all of the corpus again.
        """

    def upsert(self, corpus: OpenCorpus, chunk_ids: Sequence[str], vectors: Vectors) -> None:
        """Add the vectors or replace those of the same ids; any number of rows at a time."""

    def delete(self, corpus: OpenCorpus, chunk_ids: Sequence[str]) -> None:
        """Remove the rows; unknown ids are passed over."""

    def drop(self, corpus: OpenCorpus) -> None:
        """Remove all that is kept of the corpus; nothing there is passed over."""


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """How common terms are in a corpus, so that BM25 scores of several corpora can be put on one scale."""

    chunks: int
    """Chunks in the corpus."""
    document_frequency: Mapping[str, int]
    """In how many chunks each term asked about stands."""


class LexicalIndex(Protocol):
    """Keyword search by BM25 (k1 1.2, b 0.75) over ``content_stems`` of title, headings, text; an index per corpus."""

    def holds(self, corpus: OpenCorpus) -> bool:
        """Whether anything was ever written of the corpus and is still there."""

    def statistics(self, corpus: OpenCorpus, terms: Sequence[str]) -> TermStatistics:
        """Chunk count and document frequencies of ``terms`` (stems)."""

    def search(self, corpus: OpenCorpus, term_weights: Mapping[str, float], top_k: int) -> list[Hit]:
        """The ``top_k`` best chunks that hold at least one term, best first.

        ``term_weights`` maps stems to the inverse document frequency to score them with: the caller computes it over
        all corpora searched, so that scores of different corpora compare. A hit always scores over 0.
        """

    def upsert(self, corpus: OpenCorpus, rows: Sequence[tuple[str, str]]) -> None:
        """Add ``(chunk_id, text to index)`` rows or replace those of the same ids."""

    def delete(self, corpus: OpenCorpus, chunk_ids: Sequence[str]) -> None:
        """Remove the rows; unknown ids are passed over."""

    def drop(self, corpus: OpenCorpus) -> None:
        """Remove all that is kept of the corpus; nothing there is passed over."""
