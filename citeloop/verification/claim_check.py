"""Each claim of an answer against the passages it cites."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from citeloop.state.graph_state import Passage
from citeloop.verification.claims import Claim
from citeloop.verification.support import ClaimEvidence, ClaimScorer, Support

Comparison: TypeAlias = tuple[str, tuple[int, ...]]
"""A text, and the numbers of the passages that should say it together."""


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """One source of a claim, and how well it supports the claim."""

    passage: Passage
    support: Support


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, its support by all its sources together, and by each of them."""

    claim: Claim
    together: float
    citations: tuple[CheckedCitation, ...]


def check_claims(
    claims: Sequence[Claim],
    passages: Sequence[Passage],
    scorer: ClaimScorer,
    *,
    threshold: float,
    require_citations: bool = True,
) -> list[CheckedClaim]:
    """Score every claim against its sources: together, and one by one.

    A source of "revenue was $10M [1], up 15% [2]" need only say its part. Where no source alone reaches ``threshold``
    but all together do, each is credited with what they say together. A claim without citations is unsupported, or
    compared with all passages when citations are not required. All comparisons go to ``scorer`` in one batch.
    """
    by_number = {passage["number"]: passage for passage in passages}
    uncited = () if require_citations else tuple(by_number)
    wanted = list(dict.fromkeys(comparison for claim in claims for comparison in _comparisons(claim, uncited)))
    supports = scorer.score_batch([_evidence(text, [by_number[n] for n in numbers]) for text, numbers in wanted])
    table = dict(zip(wanted, supports, strict=True))
    checked = []
    for claim in claims:
        together = table[claim.text, claim.numbers or uncited].score
        citations = [CheckedCitation(by_number[n], _best_support(claim, n, table)) for n in claim.numbers]
        checked.append(CheckedClaim(claim, together, tuple(_credit_together(citations, together, threshold))))
    return checked


def _comparisons(claim: Claim, uncited: tuple[int, ...]) -> Iterator[Comparison]:
    yield claim.text, claim.numbers or uncited
    for number in claim.numbers:
        yield from _comparisons_with(claim, number)


def _comparisons_with(claim: Claim, number: int) -> Iterator[Comparison]:
    yield claim.text, (number,)
    yield from ((part.text, (number,)) for part in claim.parts if number in part.numbers)


def _evidence(text: str, passages: Sequence[Passage]) -> ClaimEvidence:
    context = "\n".join(dict.fromkeys(passage_context(passage) for passage in passages))
    return ClaimEvidence(text, tuple(passage["text"] for passage in passages), context)


def known_labels(passages: Sequence[Passage]) -> dict[str, int]:
    """What citations name the passages by, with their numbers."""
    return {passage.get("label") or str(passage["number"]): passage["number"] for passage in passages}


def passage_context(passage: Passage) -> str:
    """Title and headings: they often name what the text only refers to."""
    return "\n".join(filter(None, (passage["title"], *passage["heading_path"])))


def _best_support(claim: Claim, number: int, table: Mapping[Comparison, Support]) -> Support:
    return max((table[comparison] for comparison in _comparisons_with(claim, number)), key=lambda s: s.score)


def _credit_together(
    citations: Sequence[CheckedCitation], together: float, threshold: float
) -> Sequence[CheckedCitation]:
    if not citations or together < threshold or max(c.support.score for c in citations) >= threshold:
        return citations
    return [replace(citation, support=replace(citation.support, score=together)) for citation in citations]
