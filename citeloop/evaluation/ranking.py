"""Measures of a ranked list of documents with binary relevance.

As trec_eval defines them (``recall_k``, ``ndcg_cut_k``, ``recip_rank`` cut at k). Written out here because the library
made for them, ``ir-measures``, brings a compiled extension (not for every platform) and SciPy for three formulas; these
give its values.
"""

import math
from collections.abc import Collection, Iterable, Sequence

from citeloop.state.models import RAGResponse


def document_id(uri: str) -> str:
    """The document id of a passage's uri: what follows ``#`` for a line of a JSONL file, else the uri itself."""
    _, mark, identifier = uri.partition("#")
    return identifier if mark else uri


def distinct_documents(uris: Iterable[str]) -> list[str]:
    """Document ids in order; a document with several passages stands once, at its best rank."""
    return list(dict.fromkeys(document_id(uri) for uri in uris))


def ranked_documents(response: RAGResponse, most: int | None = None) -> list[str]:
    """The ``most`` best documents (``None``: all that are traced, 10 at the most) in the order of retrieval.

    That order is ``trace["ranked_chunks"]``, the best passage of each document: after reranking, before any correction.
    """
    return distinct_documents(chunk["document_uri"] for chunk in response.trace.get("ranked_chunks", ()))[:most]


def recall_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Share of the gold documents among the first ``k``."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def ndcg_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """Normalised discounted cumulative gain of the first ``k`` (Järvelin and Kekäläinen 2002, gain 0 or 1)."""
    gain = sum(_discount(rank) for rank, document in enumerate(ranked[:k], start=1) if document in gold)
    return gain / sum(_discount(rank) for rank in range(1, min(k, len(set(gold))) + 1))


def reciprocal_rank_at(k: int, ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first gold document among the first ``k``, else 0."""
    return next((1 / rank for rank, document in enumerate(ranked[:k], start=1) if document in gold), 0.0)


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)
