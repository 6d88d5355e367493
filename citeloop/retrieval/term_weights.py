"""Inverse document frequencies over all corpora of a search, so that their BM25 scores stand on one scale.

Scored with its own frequencies, a corpus about something else finds the question's words rare and puts its best
irrelevant chunk beside the right one. So a search asks each corpus for its counts, adds them up, and scores all corpora
with the sum.
"""

from collections import Counter
from collections.abc import Iterable
from heapq import nlargest
from math import log1p

from citeloop.knowledge.indexes import TermStatistics

MAX_QUERY_TERMS = 64
"""A longer question is searched by its rarest terms: the others hardly move a score and cost the most to read."""


def inverse_document_frequency(chunks: int, document_frequency: int) -> float:
    """BM25's weight of a term that stands in ``document_frequency`` of ``chunks`` chunks; always over 0.

    ``ln(1 + (N - df + 0.5) / (df + 0.5))``: Robertson and Spärck Jones's weight, as Lucene and tantivy write it.
    """
    return log1p((chunks - document_frequency + 0.5) / (document_frequency + 0.5))


def global_term_weights(statistics: Iterable[TermStatistics], max_terms: int = MAX_QUERY_TERMS) -> dict[str, float]:
    """What each term is worth over all corpora together, the rarest first; at most ``max_terms`` of them.

    Terms that stand in no corpus are left out: they match nothing. Terms equally rare keep alphabetical order, so that
    the cap takes the same ones in every run.
    """
    chunks = 0
    frequencies: Counter[str] = Counter()
    for corpus in statistics:
        chunks += corpus.chunks
        frequencies.update(corpus.document_frequency)
    weights = {
        term: inverse_document_frequency(chunks, frequency)
        for term, frequency in sorted(frequencies.items())
        if frequency > 0
    }
    return dict(nlargest(max_terms, weights.items(), key=lambda item: item[1]))
