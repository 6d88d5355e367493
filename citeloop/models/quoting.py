"""Which sentences to quote as the answer: the best first, few and short."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from citeloop.models.evidence import Scores
from citeloop.models.quotable import Quotable
from citeloop.text.words import words

_ASKS_FOR_MORE = re.compile(
    r"\bhow\s+(?:do|can|should|would|could|must)\s+(?:i|you|we|one)\b|\bhow\s+to\b|\bsteps?\b|\bsummar|\boverview\b"
    r"|\b(?:what|which)\s+are\b|\blist\b|\btell\s+me\b|\bexplain\b|\bcompare\b|\bdifferences?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuotePlan:
    """How much to quote."""

    sentences: int
    enough_words: int
    """No further sentence is begun from here on."""
    most_words: int
    """A sentence that would run over this is passed over."""
    enough_mass: float = 0.98
    """Share of the probability, by softmax of the scores, from which no further sentence is needed."""


_SHORT = QuotePlan(sentences=3, enough_words=50, most_words=90)
_LONG = QuotePlan(sentences=6, enough_words=90, most_words=140)
_SAME_WORDS = 0.8
"""Two sentences that share this much of their words (Jaccard) say the same."""
_ITEMS_AFTER_A_LEAD_IN = 8


def plan_for(question: str) -> QuotePlan:
    """A fact wants a sentence or two; a procedure, a list or a comparison some more."""
    return _LONG if _ASKS_FOR_MORE.search(question) else _SHORT


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A sentence among the passages, by indexes."""

    passage: int
    sentence: int


def choose_places(passages: Sequence[Sequence[Quotable]], scores: Sequence[Scores], plan: QuotePlan) -> list[Place]:
    """The sentences to quote, best first; a lead-in brings the items that it announces.

    ``scores`` holds one array per passage, one score per sentence. Ties go to the earlier passage and sentence.
    """
    flat = np.concatenate([*scores, np.zeros(0)])
    places = [Place(p, s) for p, passage in enumerate(passages) for s in range(len(passage))]
    mass = np.exp(flat - flat.max(initial=-np.inf))
    chosen: list[Place] = []
    held = 0.0
    for index in np.argsort(-flat, kind="stable"):
        if _is_enough(passages, chosen, held / float(mass.sum()), plan):
            break
        brought = _with_what_it_announces(passages, places[index])
        if brought and _fits(passages, chosen, places[index], plan):
            chosen += [place for place in brought if place not in chosen]
            held += float(mass[index])
    return chosen


def _is_enough(passages: Sequence[Sequence[Quotable]], chosen: Sequence[Place], share: float, plan: QuotePlan) -> bool:
    return bool(chosen) and (
        len(chosen) >= plan.sentences or share >= plan.enough_mass or _words_of(passages, chosen) >= plan.enough_words
    )


def _fits(passages: Sequence[Sequence[Quotable]], chosen: Sequence[Place], place: Place, plan: QuotePlan) -> bool:
    if not chosen:
        return True
    together = _words_of(passages, [*chosen, place])
    return together <= plan.most_words and not any(_say_the_same(passages, place, other) for other in chosen)


def _with_what_it_announces(passages: Sequence[Sequence[Quotable]], place: Place) -> list[Place]:
    """The sentence and, behind a lead-in, its items; nothing for a lead-in whose sequel cannot be quoted."""
    passage = passages[place.passage]
    quotable = passage[place.sentence]
    if not quotable.leads_in:
        return [place]
    behind = range(place.sentence + 1, min(len(passage), place.sentence + 1 + _ITEMS_AFTER_A_LEAD_IN))
    items = [Place(place.passage, index) for index in takewhile(lambda index: passage[index].is_item, behind)]
    return [place, *items] if items or quotable.code else []


def _words_of(passages: Sequence[Sequence[Quotable]], places: Sequence[Place]) -> int:
    return sum(len(words(passages[place.passage][place.sentence].text)) for place in places)


def _say_the_same(passages: Sequence[Sequence[Quotable]], one: Place, other: Place) -> bool:
    a, b = (frozenset(words(passages[place.passage][place.sentence].text)) for place in (one, other))
    return len(a & b) >= _SAME_WORDS * len(a | b)
