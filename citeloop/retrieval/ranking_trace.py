"""What a trace keeps of a ranking."""

from collections.abc import Iterable

from citeloop.state.graph_state import Candidate

_TRACED = 10
"""Documents kept in the trace."""


def best_of_documents(ranked: Iterable[Candidate]) -> list[Candidate]:
    """The best candidate of each document, in order, as many as a trace keeps."""
    first: dict[tuple[str, str], Candidate] = {}
    for candidate in ranked:
        first.setdefault((candidate["corpus"], candidate["document_uri"]), candidate)
    return list(first.values())[:_TRACED]
