"""What a claim names that its evidence does not: numbers, dates and names that stand nowhere in it."""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from citeloop.verification.evidence.names import Token, read_names, read_tokens
from citeloop.verification.evidence.traits import TextTraits

_MOST = 5


def missing_terms(claim: str, held: Collection[TextTraits]) -> tuple[str, ...]:
    """Numbers and names of ``claim`` that none of ``held`` has, as the claim writes them; five at the most.

    Words that follow each other are told as one. A capital that may come from the start of the sentence makes no name.
    """
    told = (claim[run[0].start : run[-1].end] for run in _runs(claim, held))
    return tuple(dict.fromkeys(told))[:_MOST]


def _runs(claim: str, held: Collection[TextTraits]) -> Iterator[Sequence[Token]]:
    tokens = read_tokens(claim)
    openers = {name.start for name in read_names(claim) if name.opens}

    def is_missing(token: Token) -> bool:
        is_name = token.capital and token.is_content and token.start not in openers
        return (is_name or token.term[0].isdigit()) and not any(token.term in text.vocabulary for text in held)

    for missing, run in groupby(tokens, is_missing):
        if missing:
            yield list(run)
