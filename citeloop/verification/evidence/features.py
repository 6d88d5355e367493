"""The features that the support model weighs: how much of a claim its evidence holds, and where the two conflict."""

import math
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from citeloop.models.embedder import Vectors
from citeloop.text.sentences import Span
from citeloop.verification.evidence.traits import TextTraits, read_sentences

_Item = TypeVar("_Item")

FEATURES = (
    "projection",
    "stem_coverage",
    "missing_stems",
    "bigram_coverage",
    "gram_coverage",
    "has_numbers",
    "number_coverage",
    "missing_names",
    "evidence_length",
    "conflict",
)
"""In the order of ``ClaimMatch.features``."""

_PROJECTED_ONTO = 5
_RIDGE = 1e-3


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the evidence: ``passages[passage][span.start:span.end] == text``."""

    passage: int
    span: Span
    text: str


def evidence_sentences(passages: Sequence[str]) -> list[Sentence]:
    """All sentences of all passages, in order."""
    return [
        Sentence(number, span, passage[span.start : span.end])
        for number, passage in enumerate(passages)
        for span in read_sentences(passage)
    ]


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """The features of one claim against its evidence, and the sentence that comes nearest to it."""

    features: tuple[float, ...]
    best: int


def match_claim(
    claim: TextTraits, claim_vector: Vectors, evidence: Sequence[TextTraits], vectors: Vectors, context: TextTraits
) -> ClaimMatch:
    """Compare a claim with the sentences of its evidence.

    ``claim_vector`` has shape ``(dimension,)``, ``vectors`` ``(len(evidence), dimension)``, both of unit length;
    ``context`` (title, headings) may hold words of the claim but is never the best sentence.
    """
    cosines = vectors @ claim_vector
    stems = frozenset(claim.stems)
    nearness = [
        float(c) + _share_held(stems, stems - traits.vocabulary) for c, traits in zip(cosines, evidence, strict=True)
    ]
    best = max(range(len(evidence)), key=nearness.__getitem__)
    held = [context, *evidence]
    missing = _missing(stems | claim.names, (traits.vocabulary for traits in held))
    features = {
        "projection": _projection(cosines, vectors),
        "stem_coverage": _share_held(stems, stems & missing),
        "missing_stems": math.log1p(len(stems & missing)),
        "bigram_coverage": _share_held(claim.bigrams, _missing(claim.bigrams, (traits.bigrams for traits in held))),
        "gram_coverage": _share_held(claim.grams, _missing(claim.grams, (traits.grams for traits in held))),
        "has_numbers": float(bool(claim.numbers)),
        "number_coverage": _share_held(claim.numbers, claim.numbers & missing),
        "missing_names": min(len(claim.names & missing - {claim.first}), 3),
        "evidence_length": math.log1p(sum(len(traits.stems) for traits in evidence)),
        "conflict": _conflict(claim, evidence[best], missing),
    }
    return ClaimMatch(tuple(features[name] for name in FEATURES), best)


def _missing(wanted: Set[_Item], held: Iterable[Set[_Item]]) -> Set[_Item]:
    """What of ``wanted`` none of the sets holds (much quicker than uniting them)."""
    for items in held:
        wanted = wanted - items
    return wanted


def _share_held(wanted: Set[_Item], missing: Set[_Item]) -> float:
    return 1 - len(missing) / len(wanted) if wanted else 1.0


def _projection(cosines: Vectors, vectors: Vectors) -> float:
    """Length of the claim's projection onto the span of its nearest sentences: can they say it together?"""
    nearest = np.argsort(-cosines, kind="stable")[:_PROJECTED_ONTO]
    basis, target = vectors[nearest], cosines[nearest]
    gram = basis @ basis.T + _RIDGE * np.eye(len(nearest), dtype=np.float32)
    return math.sqrt(max(0.0, float(target @ np.linalg.solve(gram, target))))


def _conflict(claim: TextTraits, sentence: TextTraits, missing: Set[str]) -> float:
    """How plainly the claim says something else than the sentence nearest to it: 0 no conflict, 1 all else is the same.

    A number or name that stands nowhere in the evidence where the sentence has another, a word that only one of the two
    negates, a word against its opposite: each matters as much as the two otherwise say the same.
    """
    replaced: set[str] = set()
    if sentence.numbers - claim.vocabulary:
        replaced |= claim.numbers & missing
    if sentence.names - claim.vocabulary:
        replaced |= claim.names & missing - {claim.first}
    if not (replaced or claim.denies(sentence) or claim.opposed_to(sentence)):
        return 0.0
    rest = frozenset(claim.stems) - replaced
    return _share_held(rest, rest - sentence.vocabulary) ** 2
