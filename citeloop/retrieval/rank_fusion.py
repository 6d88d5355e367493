"""Joining ranked lists: by rank where scores do not compare, by score where they do. Pure functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

from citeloop.knowledge.corpus import Hit

RRF_K = 60
"""The constant of reciprocal rank fusion, from its paper; the larger, the less the top ranks stand out."""


class Contribution(NamedTuple):
    """What one ranked list added to a document's fused score."""

    ranked_list: int
    """Index of the list among those fused."""
    rank: int
    """Best rank of the document in that list, from 1."""
    score: float


@dataclass(frozen=True, slots=True)
class FusedHit:
    """A document after fusion, with the lists that pulled it in."""

    id: str
    score: float
    """Sum of the contributions, added up in list order."""
    contributions: tuple[Contribution, ...]
    """In list order; lists that do not hold the document are absent."""

    @property
    def best_rank(self) -> int:
        """The document's best rank in any list, from 1."""
        return min(contribution.rank for contribution in self.contributions)


def reciprocal_rank_fusion(
    ranked_lists: Sequence[Sequence[str]], k: int = RRF_K, weights: Sequence[float] | None = None
) -> list[FusedHit]:
    """Fuse lists of document ids, best first: a document scores the sum of ``weight / (k + rank)`` over its lists.

    Ranks start at 1. An id that stands twice in a list counts once there, at its best rank, and the ids behind it keep
    the ranks they have. Documents that score the same stand by their best single rank, then by id; that order does not
    depend on the order of the lists.

    Args:
        k: 0 or more.
        weights: one per list, over 0; all 1 when not given.

    Raises:
        ValueError: for a ``k`` or a weight out of bounds, or another number of weights than of lists.

    Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods", SIGIR 2009; the RAG-Fusion pattern of the multi-query specification.
    """
    weights = [1.0] * len(ranked_lists) if weights is None else weights
    if k < 0 or any(weight <= 0 for weight in weights):
        raise ValueError("k must be 0 or more and every weight over 0")
    contributions: dict[str, list[Contribution]] = {}
    for number, (ids, weight) in enumerate(zip(ranked_lists, weights, strict=True)):
        for document_id, rank in _best_ranks(ids).items():
            contributions.setdefault(document_id, []).append(Contribution(number, rank, weight / (k + rank)))
    return sorted((_fused(document_id, parts) for document_id, parts in contributions.items()), key=_fusion_order)


def merge_by_score(lists_of_hits: Iterable[Sequence[Hit]], top_k: int) -> list[Hit]:
    """The ``top_k`` best of lists whose scores compare, such as those of several corpora for one query.

    A chunk that stands in several lists counts once, at its best score. Equal scores stand in the order of their ids.
    """
    best: dict[str, float] = {}
    for hits in lists_of_hits:
        for chunk_id, score in hits:
            best[chunk_id] = max(score, best.get(chunk_id, score))
    ordered = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(chunk_id, score) for chunk_id, score in ordered[: max(top_k, 0)]]


def _best_ranks(ids: Sequence[str]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for rank, document_id in enumerate(ids, start=1):
        ranks.setdefault(document_id, rank)
    return ranks


def _fused(document_id: str, contributions: list[Contribution]) -> FusedHit:
    score = 0.0
    for contribution in contributions:  # not sum(): since Python 3.12 it rounds differently from a + b + c
        score += contribution.score
    return FusedHit(document_id, score, tuple(contributions))


def _fusion_order(hit: FusedHit) -> tuple[float, int, str]:
    # Ranks 1, 2, 3 and 3, 1, 2 score the same, but for the rounding of their sums: fsum rounds once, in any order.
    return (-fsum(contribution.score for contribution in hit.contributions), hit.best_rank, hit.id)
