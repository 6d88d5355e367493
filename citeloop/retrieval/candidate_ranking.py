"""Candidates with the scores that a reranker gave them, put in order."""

from collections.abc import Iterable, Mapping, Sequence

from citeloop.knowledge.corpus import Chunk
from citeloop.state.graph_state import Candidate

_TRACED = 10
"""Documents kept in the trace."""


def scored(found: Sequence[Candidate], chunks: Mapping[str, Chunk], scores: Sequence[float]) -> list[Candidate]:
    """The candidates with these scores, one each, and where their documents came from."""
    return [
        Candidate(**{**candidate, "document_uri": chunks[candidate["chunk_id"]].uri, "score": round(score, 6)})
        for candidate, score in zip(found, scores, strict=True)
    ]


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """By score; equals keep the order they have."""
    return sorted(candidates, key=lambda candidate: -candidate["score"])


def distinct(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Each chunk once, where it stands first."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate["chunk_id"], candidate)
    return list(first.values())


def trace_documents(ranked: Iterable[Candidate]) -> list[Candidate]:
    """The best candidate of each document, in order, as many as a trace keeps."""
    first: dict[tuple[str, str], Candidate] = {}
    for candidate in ranked:
        first.setdefault((candidate["corpus"], candidate["document_uri"]), candidate)
    return list(first.values())[:_TRACED]
