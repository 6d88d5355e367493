"""Nearest neighbours with Chroma, embedded: one collection per corpus and embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.knowledge.indexes import VectorSearch
from citeloop.models.embedder import Vectors
from citeloop.retrieval.chroma_client import lost_by_fork
from citeloop.retrieval.chroma_folder import ChromaFolder

if TYPE_CHECKING:  # Chroma takes long to import: it is loaded with the first search
    from chromadb import Collection

_ROWS_AT_A_TIME = 1000  # Chroma takes 5461; readers that open the folder wait for one call at the most


class ChromaVectorIndex:
    """``VectorIndex`` over a Chroma folder, which is opened at the first use.

    Thread-safe; searches from many threads run side by side. A search sees every write that had returned when it began,
    by any process. Writers are kept apart by the store's write lock. Raises ``StoreCorrupt`` where the data cannot be
    read, ``StoreBusy`` where another process keeps it locked.

    Chroma does not survive a fork: its threads stay in the parent. A child forked after the first use searches with
    ``after_fork``; without it, and for writing, it gets a ``UsageError``.
    """

    def __init__(self, folder: Path, after_fork: VectorSearch | None = None) -> None:
        self._chroma = ChromaFolder(folder)
        self._after_fork = after_fork

    def search(self, corpus: OpenCorpus, query_vector: Vectors, top_k: int) -> list[Hit]:
        """See ``VectorIndex``. A corpus that nothing was written for has no hits."""
        if self._after_fork is not None and lost_by_fork():
            return self._after_fork.search(corpus, query_vector, top_k)
        from chromadb.errors import ChromaError

        collection = self._chroma.read(corpus)
        try:
            return _nearest(collection, query_vector, top_k)
        except ChromaError:  # searching takes no lock: a writer may have dropped the collection meanwhile
            with self._chroma.reading_anew(corpus) as collection:
                return _nearest(collection, query_vector, top_k)

    def upsert(self, corpus: OpenCorpus, chunk_ids: Sequence[str], vectors: Vectors) -> None:
        """See ``VectorIndex``.

        Old rows are deleted first: when vectors are changed in place, the graph can lose sight of some (seen after 4 of
        640 loads; after none of 960 this way).
        """
        for start in range(0, len(chunk_ids), _ROWS_AT_A_TIME):
            ids = list(chunk_ids[start : start + _ROWS_AT_A_TIME])
            with self._chroma.writing(corpus) as collection:
                if known := collection.get(ids=ids, include=[])["ids"]:
                    collection.delete(ids=known)
                collection.add(ids=ids, embeddings=vectors[start : start + _ROWS_AT_A_TIME])

    def delete(self, corpus: OpenCorpus, chunk_ids: Sequence[str]) -> None:
        """See ``VectorIndex``."""
        for start in range(0, len(chunk_ids), _ROWS_AT_A_TIME):
            with self._chroma.writing(corpus) as collection:
                collection.delete(ids=list(chunk_ids[start : start + _ROWS_AT_A_TIME]))

    def drop(self, corpus: OpenCorpus) -> None:
        """See ``VectorIndex``."""
        self._chroma.drop(corpus)

    def holds(self, corpus: OpenCorpus) -> bool:
        """See ``VectorIndex``."""
        return self._chroma.is_whole(corpus)


def _nearest(collection: Collection | None, query_vector: Vectors, top_k: int) -> list[Hit]:
    if collection is None or top_k < 1:
        return []
    found = collection.query(query_embeddings=query_vector.tolist(), n_results=top_k, include=["distances"])
    distances = (found["distances"] or [[]])[0]
    return [Hit(chunk_id, 1.0 - distance) for chunk_id, distance in zip(found["ids"][0], distances, strict=True)]
