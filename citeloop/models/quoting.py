"""Which sentences to quote as the answer: the best first, few and short."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from citeloop.models.evidence import Scores
from citeloop.models.quotable import Quotable
from citeloop.text.words import words

_ASKS_FOR_STEPS = re.compile(
    r"\bhow\s+(?:do|can|should|would|could|must)\s+(?:i|you|we|one)\b|\bhow\s+to\b|\bsteps?\b", re.IGNORECASE
)
_ASKS_FOR_MORE = re.compile(
    r"\bsummar|\boverview\b|\b(?:what|which)\s+are\b|\blist\b|\btell\s+me\b|\bexplain\b|\bcompare\b|\bdifferences?\b",
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
    in_order: bool = False
    """Whether all sentences of a passage stand in its order; else only those that continue each other do."""
    enough_mass: float = 0.98
    """Share of the probability, by softmax of the scores, from which no further sentence is needed."""


_SHORT = QuotePlan(sentences=3, enough_words=50, most_words=90)
_LONG = QuotePlan(sentences=6, enough_words=90, most_words=140)
_STEPS = replace(_LONG, in_order=True)
_SAME_WORDS = 0.8
"""Two sentences that share this much of their words (Jaccard) say the same."""
_ITEMS_AFTER_A_LEAD_IN = 8
_WORDS_OF_A_SHORT_ITEM = 50


def plan_for(question: str) -> QuotePlan:
    """A fact wants a sentence or two; a procedure, a list or a comparison some more."""
    if _ASKS_FOR_STEPS.search(question):
        return _STEPS
    return _LONG if _ASKS_FOR_MORE.search(question) else _SHORT


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A sentence among the passages, by indexes."""

    passage: int
    sentence: int


def choose_places(passages: Sequence[Sequence[Quotable]], scores: Sequence[Scores], plan: QuotePlan) -> list[Place]:
    """The sentences to quote, best first, each with what belongs to it: see ``_brought``.

    ``scores`` holds one array per passage, one score per sentence; minus infinity for what must not be chosen. Ties go
    to the earlier passage and sentence.
    """
    flat = np.concatenate([*scores, np.zeros(0)])
    places = [Place(p, s) for p, passage in enumerate(passages) for s in range(len(passage))]
    mass = np.exp(flat - flat.max(initial=np.finfo(np.float64).min))
    whole = max(float(mass.sum()), np.finfo(np.float64).tiny)
    chosen: list[Place] = []
    held, picks = 0.0, 0
    for index in np.argsort(-flat, kind="stable"):
        told = picks if plan.in_order else len(chosen)  # of a procedure, a list is one thing told
        if told >= plan.sentences or _is_enough(passages, chosen, held / whole, plan):
            break
        place = places[index]
        brought = _brought(passages, place) if np.isfinite(flat[index]) else []
        if place in chosen:  # it came with another
            held += float(mass[index])
        elif brought and _fits(passages, chosen, place, plan):
            chosen += [new for new in brought if new not in chosen]
            held += float(mass[index])
            picks += 1
    return chosen


def reading_order(passages: Sequence[Sequence[Quotable]], places: Sequence[Place], plan: QuotePlan) -> list[Place]:
    """``places`` with each that continues another moved behind it, and the items of a list together and in their order;
    the rest as it is. Where the plan wants order, each passage is read from above, the one with the best first."""
    if plan.in_order:
        passages_by_best = list(dict.fromkeys(place.passage for place in places))
        return sorted(places, key=lambda place: (passages_by_best.index(place.passage), place.sentence))
    ordered: list[Place] = []
    for place in places:
        kin = [other for other in ordered if _is_next(other, place) or _in_one_list(passages, other, place)]
        earlier = [other for other in kin if other < place]
        at = ordered.index(earlier[-1]) + 1 if earlier else ordered.index(kin[0]) if kin else len(ordered)
        ordered.insert(at, place)
    return ordered


def _is_next(other: Place, place: Place) -> bool:
    return place == Place(other.passage, other.sentence + 1)


def _in_one_list(passages: Sequence[Sequence[Quotable]], one: Place, other: Place) -> bool:
    """Whether both are items of a list, or one is the lead-in of the other; the rows of a table have no order."""
    first, second = sorted((one, other))
    if first.passage != second.passage:
        return False
    between = passages[first.passage][first.sentence : second.sentence + 1]
    is_list = all(quotable.in_list and not quotable.is_row for quotable in between)
    return is_list or between[-1].lead_in == first.sentence


def _is_enough(passages: Sequence[Sequence[Quotable]], chosen: Sequence[Place], share: float, plan: QuotePlan) -> bool:
    return bool(chosen) and (share >= plan.enough_mass or _words_of(passages, chosen) >= plan.enough_words)


def _fits(passages: Sequence[Sequence[Quotable]], chosen: Sequence[Place], place: Place, plan: QuotePlan) -> bool:
    if not chosen:
        return True
    together = _words_of(passages, [*chosen, place])
    return together <= plan.most_words and not any(_say_the_same(passages, place, other) for other in chosen)


def _brought(passages: Sequence[Sequence[Quotable]], place: Place) -> list[Place]:
    """What is quoted for the sentence at ``place``: the items behind a lead-in, the whole of a short item, under the
    item that it hangs from. Nothing for what says nothing by itself."""
    return [Place(place.passage, at) for at in _with_its_list(passages[place.passage], place.sentence)]


def _with_its_list(passage: Sequence[Quotable], at: int) -> list[int]:
    sequel = _sequel(passage, at) if passage[at].leads_in else []
    if sequel or (passage[at].leads_in and passage[at].code):
        return [at, *sequel]
    if not passage[at].stands_alone:
        return []
    item = _item_around(passage, at)
    above = passage[at].lead_in
    return [above, *item] if above is not None and passage[above].is_item else item


def _sequel(passage: Sequence[Quotable], lead_in: int) -> list[int]:
    behind = range(lead_in + 1, min(len(passage), lead_in + 1 + _ITEMS_AFTER_A_LEAD_IN))
    return list(takewhile(lambda at: _hangs_from(passage[at], lead_in), behind))


def _hangs_from(item: Quotable, lead_in: int) -> bool:
    return item.lead_in is not None and item.lead_in >= lead_in


def _item_around(passage: Sequence[Quotable], at: int) -> list[int]:
    """The sentences of the item that the one ``at`` belongs to; that one alone outside lists and in a long item."""
    first = at
    while passage[first].continues:
        first -= 1
    rest = takewhile(lambda index: passage[index].continues, range(first + 1, len(passage)))
    item = [first, *rest]
    is_short = sum(len(words(passage[index].quote)) for index in item) <= _WORDS_OF_A_SHORT_ITEM
    return item if is_short else [at]


def _words_of(passages: Sequence[Sequence[Quotable]], places: Sequence[Place]) -> int:
    return sum(len(words(passages[place.passage][place.sentence].quote)) for place in places)


def _say_the_same(passages: Sequence[Sequence[Quotable]], one: Place, other: Place) -> bool:
    a, b = (frozenset(words(passages[place.passage][place.sentence].quote)) for place in (one, other))
    return len(a & b) >= _SAME_WORDS * len(a | b)
