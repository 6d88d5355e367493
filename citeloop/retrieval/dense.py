"""Nearest neighbours with Chroma, embedded: one collection per corpus and embedding model."""

from collections.abc import Sequence
from pathlib import Path

from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.models.embedder import Vectors
from citeloop.retrieval.chroma_folder import ChromaFolder

_ROWS_AT_A_TIME = 1000  # Chroma takes 5461; readers that open the folder wait for one call at the most


class ChromaVectorIndex:
    """``VectorIndex`` over a Chroma folder, which is opened at the first use.

    Thread-safe; searches from many threads run side by side. A search sees every write that had returned when it began,
    by any process. Writers are kept apart by the store's write lock. Raises ``StoreCorrupt`` where the data cannot be
    read, ``StoreBusy`` where another process keeps it locked.
    """

    def __init__(self, folder: Path) -> None:
        self._chroma = ChromaFolder(folder)

    def search(self, corpus: OpenCorpus, query_vector: Vectors, top_k: int) -> list[Hit]:
        """See ``VectorIndex``. A corpus that nothing was written for has no hits."""
        collection = self._chroma.read(corpus)
        if collection is None or top_k < 1:
            return []
        with self._chroma.errors_told(corpus):
            found = collection.query(query_embeddings=query_vector.tolist(), n_results=top_k, include=["distances"])
        distances = (found["distances"] or [[]])[0]
        return [Hit(chunk_id, 1.0 - distance) for chunk_id, distance in zip(found["ids"][0], distances, strict=True)]

    def upsert(self, corpus: OpenCorpus, chunk_ids: Sequence[str], vectors: Vectors) -> None:
        """See ``VectorIndex``."""
        for start in range(0, len(chunk_ids), _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            with self._chroma.writing(corpus) as collection:
                collection.upsert(ids=list(chunk_ids[rows]), embeddings=vectors[rows])

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
