"""What an answer cannot keep without the claims that were taken out of it."""

import re
from collections.abc import Callable, Mapping, Sequence

from citeloop.verification.answer_text.answer_layout import Place
from citeloop.verification.answer_text.claims import Claim

_CONNECTIVE = (
    r"(?:however|moreover|furthermore|in addition|additionally|also|therefore|thus|hence|consequently|as a result"
    r"|accordingly|for (?:example|instance)|(?:in|by) contrast|on the other hand|conversely|nevertheless|nonetheless"
    r"|instead|similarly|likewise|meanwhile|then|next|finally|second(?:ly)?|third(?:ly)?|besides|still|specifically"
    r"|in particular|in fact|indeed|overall|likewise|otherwise|in turn|after that|afterwards)"
)
CONNECTIVE = re.compile(rf"(?:{_CONNECTIVE},\s+|(?:but|and|so|yet|or|nor),?\s+)+(?=\S)", re.IGNORECASE)
"""Words at a sentence's start that tie it to the one before and add nothing else."""
_OPENER = (
    r"(?:because of|due to|despite|after|before|in|of|for|with|to|from|according to|based on|when|while|if|since"
    r"|although|because|one of|some of|most of|all of|none of|each of)"
)
_PRONOUN = (
    r"(?:it|its|they|their|them|he|his|she|her|this|that|these|those|both|such|as such|doing so"
    r"|the (?:former|latter|same)"
    r"|er|sie|dies(?:e[mnrs]?)?|ils?|elles?|cela|ce(?:ci|s|tte)|ello|es[ao]s?|est[aeo]s?)"
)
_UNSPACED = r"[它他她这這那此其该該]|こ[のれ]|そ[のれ]|彼"
_REFERS_BACK = re.compile(
    rf"\W*(?:(?:{_CONNECTIVE}|but|and|so|yet),?\s+)?(?:(?:{_OPENER}\s+)?{_PRONOUN}\b|{_UNSPACED})", re.IGNORECASE
)
"""Pronouns of English, German, French, Spanish, Chinese and Japanese at a sentence's start."""

REFERS_BACK = "it refers to a claim that was taken out"
STANDS_UNDER = "it stands under a claim that was taken out"
INTRODUCES_NOTHING = "nothing is left of what it introduces"


def with_dependents(sentences: Sequence[Claim], places: Sequence[Place], taken: Mapping[int, str]) -> dict[int, str]:
    """Indexes of the sentences that go, each with the reason: those of ``taken``, and what hangs on them.

    A sentence that begins with "it" or "this" would speak of another thing, an item below an item of another one, and
    a heading, a lead-in or the header of a table of nothing.
    """
    gone = dict(taken)
    parents = _parents(places)
    for index, (sentence, place) in enumerate(zip(sentences, places, strict=True)):
        if index not in gone:
            if parents[index] and all(above in gone for above in parents[index]):
                gone[index] = STANDS_UNDER
            elif index - 1 in gone and not _opens_another(place) and _REFERS_BACK.match(sentence.text):
                gone[index] = REFERS_BACK
    for index in reversed(range(len(sentences))):
        if index not in gone and not sentences[index].is_claim:
            introduced = _introduced(index, places)
            if introduced and all(follower in gone for follower in introduced):
                gone[index] = INTRODUCES_NOTHING
    return gone


def _opens_another(place: Place) -> bool:
    """Items, rows and headings stand side by side: "it" is there whatever the list is about."""
    return place.kind != "prose" and place.opens


def _parents(places: Sequence[Place]) -> list[range]:
    """For each sentence that opens an item inside another item, the sentences of that one."""
    parents: list[range] = []
    items: list[tuple[int, range]] = []  # indent and sentences of the items that are open, outermost first
    for index, place in enumerate(places):
        parents.append(range(0))
        if place.kind == "item" and place.opens:
            while items and items[-1][0] >= place.indent:
                items.pop()
            parents[-1] = items[-1][1] if items else range(0)
            items.append((place.indent, range(index, index + 1)))
        elif place.opens:
            items.clear()
        elif items and items[-1][1].stop == index:
            items[-1] = (items[-1][0], range(items[-1][1].start, index + 1))
    return parents


def _introduced(index: int, places: Sequence[Place]) -> range:
    place, following = places[index], range(index + 1, len(places))
    if place.kind == "heading":
        return range(index + 1, _first(following, lambda i: 0 < places[i].level <= place.level, len(places)))
    if place.kind == "table_header":
        return range(index + 1, _first(following, lambda i: places[i].kind != "row", len(places)))
    if not place.introduces or not following:
        return range(0)
    if not _is_listed(places[index + 1]):
        return range(index + 1, index + 2)
    return range(index + 1, _first(following, lambda i: _ends_list(places[i], place), len(places)))


def _is_listed(place: Place) -> bool:
    return place.kind in ("item", "row", "table_header")


def _ends_list(place: Place, lead_in: Place) -> bool:
    """Whether ``place`` is no longer of the list that ``lead_in`` introduces."""
    if lead_in.kind == "item" and place.kind == "item" and place.opens:
        return place.indent <= lead_in.indent
    return place.opens and not _is_listed(place)


def _first(indexes: range, holds: Callable[[int], bool], default: int) -> int:
    return next((index for index in indexes if holds(index)), default)
