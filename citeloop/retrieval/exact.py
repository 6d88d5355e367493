"""Nearest neighbours by looking at every vector of the knowledge store: exact, and slow on large corpora."""

import heapq

from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Vectors


class ExactVectorSearch:
    """``VectorSearch`` over the store itself, without an index, in bounded memory; time grows with the corpus."""

    def __init__(self, store: HierarchicalKnowledgeStore) -> None:
        self._store = store

    def search(self, corpus: OpenCorpus, query_vector: Vectors, top_k: int) -> list[Hit]:
        """See ``VectorSearch``. Equal scores stand in the order of their ids."""
        best: list[Hit] = []
        for chunk_ids, vectors in self._store.scan_vectors(corpus):
            hits = [Hit(*pair) for pair in zip(chunk_ids, (vectors @ query_vector).tolist(), strict=True)]
            best = heapq.nsmallest(top_k, [*best, *hits], key=lambda hit: (-hit.score, hit.chunk_id))
        return best
