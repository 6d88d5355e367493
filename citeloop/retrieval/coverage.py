"""Candidates put in an order that covers much: each next one adds what those before it do not say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.knowledge.vector_rows import PlacedVector, read_vectors
from citeloop.models.embedder import Vectors
from citeloop.state.graph_state import Candidate
from citeloop.state.models import UserContext


@dataclass(frozen=True, slots=True)
class CoverageOrder:
    """Orders candidates by maximal marginal relevance over their stored vectors.

    Blocking: call it from a worker thread. Corpora are opened as the caller, each time.
    """

    store: HierarchicalKnowledgeStore

    def read(self, candidates: Sequence[Candidate], caller: UserContext) -> dict[str, PlacedVector]:
        """Vector and place of each candidate that is still stored."""
        placed: dict[str, PlacedVector] = {}
        for name, members in groupby(sorted(candidates, key=_corpus), key=_corpus):
            corpus = self.store.open_corpus(name, caller)
            placed |= read_vectors(self.store, corpus, [candidate["chunk_id"] for candidate in members])
        return placed

    def order(
        self, candidates: Sequence[Candidate], placed: Mapping[str, PlacedVector], balance: float, most: int
    ) -> list[Candidate]:
        """The ``most`` candidates (given best first) that cover most, as they were taken; behind them the others."""
        known = [candidate for candidate in candidates if candidate["chunk_id"] in placed]
        if not known:
            return []
        places = [placed[candidate["chunk_id"]] for candidate in known]
        vectors = np.stack([place.vector for place in places])
        taken = maximal_marginal_relevance(vectors, [place.section_id for place in places], balance, most)
        rest = sorted(set(range(len(known))) - set(taken))
        return [known[index] for index in (*taken, *rest)]


def maximal_marginal_relevance(vectors: Vectors, sections: Sequence[str], balance: float, most: int) -> list[int]:
    """Rows in the order of Carbonell and Goldstein (1998): each the one with the highest
    ``balance * relevance - (1 - balance) * (highest similarity to a row taken before)``; of equals, the first.

    ``vectors`` ``(n, dimension)`` are unit vectors, best first. The relevance is the place in that order, from 1 down
    to 0: on one scale for every reranker. The similarity is the cosine, and 1 within a section: without that,
    breadth is sought in far-off topics, with it in the parts of the documents. Stops at ``most`` rows.
    """
    count = len(sections)
    relevance = 1 - np.arange(count) / max(count - 1, 1)
    section = np.array(sections)
    redundancy, is_open = np.zeros(count), np.ones(count, bool)
    taken: list[int] = []
    while len(taken) < min(most, count):
        gains = np.where(is_open, balance * relevance - (1 - balance) * redundancy, -np.inf)
        best = int(gains.argmax())
        taken.append(best)
        is_open[best] = False
        redundancy = np.maximum(redundancy, np.where(section == section[best], 1.0, vectors @ vectors[best]))
    return taken


def _corpus(candidate: Candidate) -> str:
    return candidate["corpus"]
