"""Each claim of an answer against the passages it cites."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from citeloop.state.graph_state import Passage
from citeloop.verification.answer_text.claims import CitedPart, Claim
from citeloop.verification.evidence.support import ClaimEvidence, ClaimScorer, Support

Comparison: TypeAlias = tuple[str, tuple[int, ...]]
"""A text, and the numbers of the passages that should say it together."""


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """One source of a claim, and how well it supports the claim."""

    passage: Passage
    support: Support


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """A claim, or the stretch of it that one group of citations stands for: what has a verdict of its own."""

    text: str
    start: int
    end: int
    """Its characters in the normalised answer, half open."""
    support: Support
    """By its sources together; by the best of them, where the others only distract."""
    citations: tuple[CheckedCitation, ...]


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, its support by all its sources together, and by each of them."""

    claim: Claim
    together: float
    citations: tuple[CheckedCitation, ...]
    parts: tuple[CheckedPart, ...]
    """In the order of the answer; at least one."""


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
    but all together do, each is credited with what they say together, unless it says otherwise. A claim without
    citations is unsupported, or compared with all passages when citations are not required. All comparisons go to
    ``scorer`` in one batch.
    """
    by_number = {passage["number"]: passage for passage in passages}
    uncited = () if require_citations else tuple(by_number)
    wanted = list(dict.fromkeys(comparison for claim in claims for comparison in _comparisons(claim, uncited)))
    supports = scorer.score_batch([_evidence(text, [by_number[n] for n in numbers]) for text, numbers in wanted])
    table = dict(zip(wanted, supports, strict=True))
    return [_checked(claim, uncited, by_number, table, threshold) for claim in claims]


def _checked(
    claim: Claim,
    uncited: tuple[int, ...],
    by_number: Mapping[int, Passage],
    table: Mapping[Comparison, Support],
    threshold: float,
) -> CheckedClaim:
    together = _by_all_or_best(claim.text, claim.numbers or uncited, table)
    if not claim.parts:
        whole = CheckedPart(claim.text, claim.start, claim.end, together, ())
        return CheckedClaim(claim, together.score, (), (whole,))
    parts = [_checked_part(part, claim, by_number, table, threshold) for part in claim.parts]
    if len(parts) > 1 and together.score >= threshold and not any(_stands_alone(part, threshold) for part in parts):
        parts = [_credited(part, together.score) for part in parts]
    return CheckedClaim(claim, together.score, _united(parts), tuple(parts))


def _checked_part(
    part: CitedPart,
    claim: Claim,
    by_number: Mapping[int, Passage],
    table: Mapping[Comparison, Support],
    threshold: float,
) -> CheckedPart:
    citations = tuple(
        CheckedCitation(by_number[n], max(table[part.text, (n,)], table[claim.text, (n,)], key=_score))
        for n in part.numbers
    )
    support = _by_all_or_best(part.text, part.numbers, table)
    best = max(citation.support.score for citation in citations)
    checked = CheckedPart(part.text, part.start, part.end, replace(support, score=max(support.score, best)), citations)
    return _credited(checked, support.score) if best < threshold <= support.score else checked


def _by_all_or_best(text: str, numbers: tuple[int, ...], table: Mapping[Comparison, Support]) -> Support:
    """Support by all the sources together: at least what the best of them gives by itself."""
    by_all = table[text, numbers]
    alone = (table[text, (n,)].score for n in numbers if (text, (n,)) in table)
    return replace(by_all, score=max(by_all.score, *alone, 0.0))


def _stands_alone(part: CheckedPart, threshold: float) -> bool:
    """Whether what the part's own sources say of it decides: they say it, or say otherwise."""
    return part.support.score >= threshold or bool(part.support.conflict or part.support.missing)


def _credited(part: CheckedPart, score: float) -> CheckedPart:
    credited = (replace(citation, support=replace(citation.support, score=score)) for citation in part.citations)
    return replace(part, support=replace(part.support, score=score), citations=tuple(credited))


def _united(parts: Iterable[CheckedPart]) -> tuple[CheckedCitation, ...]:
    """The sources of all parts, each once, as it supports best."""
    best: dict[int, CheckedCitation] = {}
    for citation in (citation for part in parts for citation in part.citations):
        number = citation.passage["number"]
        best[number] = max(best.get(number, citation), citation, key=lambda c: _score(c.support))
    return tuple(best.values())


def _score(support: Support) -> float:
    return support.score


def _comparisons(claim: Claim, uncited: tuple[int, ...]) -> Iterator[Comparison]:
    yield claim.text, claim.numbers or uncited
    for part in claim.parts:
        yield part.text, part.numbers
        for number in part.numbers:
            yield part.text, (number,)
            yield claim.text, (number,)


def _evidence(text: str, passages: Sequence[Passage]) -> ClaimEvidence:
    context = "\n".join(dict.fromkeys(passage_context(passage) for passage in passages))
    return ClaimEvidence(text, tuple(passage["text"] for passage in passages), context)


def known_labels(passages: Sequence[Passage]) -> dict[str, int]:
    """What citations name the passages by, with their numbers."""
    return {passage.get("label") or str(passage["number"]): passage["number"] for passage in passages}


def passage_context(passage: Passage) -> str:
    """Title and headings: they often name what the text only refers to."""
    return "\n".join(filter(None, (passage["title"], *passage["heading_path"])))
