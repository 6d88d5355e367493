"""Nearest neighbours by looking at every vector of the knowledge store: exact, and slow on large corpora."""

import heapq
from collections.abc import Iterable, Sequence

import numpy as np

from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Vectors


class ExactVectorSearch:
    """``VectorSearch`` over the store itself, without an index, in bounded memory; time grows with the corpus."""

    def __init__(self, store: HierarchicalKnowledgeStore) -> None:
        self._store = store

    def search(self, corpus: OpenCorpus, query_vector: Vectors, top_k: int) -> list[Hit]:
        """See ``VectorSearch``. Equal scores stand in the order of their ids."""
        return nearest_in_batches(self._store.scan_vectors(corpus), query_vector, top_k)


def nearest_in_batches(
    batches: Iterable[tuple[Sequence[str], Vectors]], query_vector: Vectors, top_k: int
) -> list[Hit]:
    """The ``top_k`` nearest of all batches, best first: those of a single one are those of ``nearest``."""
    best: list[Hit] = []
    for chunk_ids, vectors in batches:
        best = heapq.nsmallest(top_k, [*best, *nearest(chunk_ids, vectors, query_vector, top_k)], key=_in_order)
    return best


def nearest(chunk_ids: Sequence[str], vectors: Vectors, query_vector: Vectors, top_k: int) -> list[Hit]:
    """The ``top_k`` of the vectors ``(n, dimension)`` with the highest cosine, best first; equals by their ids.

    The score of a row does not depend on the rows beside it, to the last bit: however a corpus is cut, what is best of
    the parts' best is best of all. (A matrix product rounds by its shape, and its threads fight for the cores.)
    """
    scores = np.einsum("ij,j->i", vectors, query_vector)
    if 0 < top_k < len(scores):
        least = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
        kept = np.flatnonzero(scores >= least)  # all equals of the last one: the ids decide between them
    else:
        kept = np.arange(len(scores))
    hits = [Hit(chunk_ids[row], float(scores[row])) for row in kept.tolist()]
    return sorted(hits, key=_in_order)[: max(top_k, 0)]


def _in_order(hit: Hit) -> tuple[float, str]:
    return -hit.score, hit.chunk_id
