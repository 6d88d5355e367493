"""Where the evidence plainly says otherwise than a claim, and what it says, in words.

Precision goes before recall: a claim that is told to be contradicted loses its support whatever else speaks for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from citeloop.text.polarity import opposites
from citeloop.text.words import stem
from citeloop.verification.evidence.names import Name, read_names, sure_names
from citeloop.verification.evidence.substitutions import find_substitution
from citeloop.verification.evidence.traits import TextTraits, read_traits
from citeloop.verification.evidence.values import Value, differ, read_values

ContradictionKind = Literal["number", "date", "unit", "negation", "opposite", "name", "swap"]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What stands against a claim."""

    kind: ContradictionKind
    told: str
    """In words; empty where that would be saying too much."""


_UNITS = {
    stem(word): (sort, words[0])
    for sort, group in {
        "length": (
            "km kilometre kilometres kilometer kilometers",
            "mile miles mi",
            "m metre metres meter meters",
            "cm centimetre centimetres centimeter centimeters",
            "mm millimetre millimetres millimeter millimeters",
            "foot feet ft",
            "inch inches",
            "yard yards",
        ),
        "weight": (
            "kg kilogram kilograms kilo kilos",
            "lb lbs",
            "g gram grams",
            "ton tons tonne tonnes",
            "ounce ounces",
        ),
        "time": (
            "second seconds",
            "minute minutes",
            "hour hours",
            "day days",
            "week weeks",
            "month months",
            "year years",
            "decade decades",
            "century centuries",
        ),
        "share": ("%", "point points percentage"),
        "money": ("dollar dollars", "euro euros", "pound pounds", "franc francs", "yen"),
        "temperature": ("celsius", "fahrenheit"),
    }.items()
    for words in map(str.split, group)
    for word in words
}
"""Stems of units: what sort of thing they measure, and one name for all spellings of a unit."""
_SAME_MATTER = 0.5
"""Share of a claim's stems that the nearest sentence holds, so that it speaks of the same."""
_OVERLAP = 0.5
"""Share of a name's surroundings that the evidence has around another name."""
_PASSIVE = "by"
_MOST_NAMES = 24
"""Names of a claim: one with more is a list, and each would be held against all names of the evidence."""
_EXCHANGED_BY = 2
"""Words by which two names fit each other's place in a sentence better than their own."""


def find_contradiction(claim: str, sentence: str, evidence: Sequence[str], context: TextTraits) -> Contradiction | None:
    """What the evidence says otherwise; ``sentence`` is that of its sentences which comes nearest.

    ``context`` (title, headings) may hold numbers of the claim too. A number that stands nowhere is found, though not
    told, where the nearest sentence speaks of much else; all the rest only where it speaks of the same.
    """
    if substitution := find_substitution(claim, sentence):
        return Contradiction(substitution.kind, _says(substitution.there, substitution.here))
    one, other = read_traits(claim), read_traits(sentence)
    traits = [read_traits(text) for text in evidence]
    same = _speak_of_the_same(one, other)
    if number := _other_number(one, other, [context, *traits]):
        return number if same else replace(number, told="")
    if not same:
        return None
    return (
        _other_value(claim, sentence, evidence) or _other_polarity(one, other, traits) or _other_name(claim, evidence)
    )


def _speak_of_the_same(claim: TextTraits, sentence: TextTraits) -> bool:
    stems = frozenset(claim.stems)
    return len(stems & sentence.vocabulary) >= _SAME_MATTER * len(stems)


def _says(there: str, here: str) -> str:
    if not here or not there:
        return f'"{there or here}" stands only in the {"source" if there else "claim"}'
    return f'it says "{there}" where the claim says "{here}"'


def _other_value(claim: str, sentence: str, evidence: Sequence[str]) -> Contradiction | None:
    """A unit or a date that the evidence has otherwise."""
    claimed = read_values(claim)
    if not claimed:
        return None
    values = [value for text in evidence for value in read_values(text)]
    for value in claimed:
        if value.kind == "amount" and (other := _in_another_unit(value, values)):
            return Contradiction("unit", _says(other.text, value.text))
        if value.kind == "date" and not any(_same_date(value, other) for other in values):
            for other in read_values(sentence):
                if differ(value, other):
                    return Contradiction("date", _says(other.text, value.text))
    return None


def _in_another_unit(value: Value, values: Sequence[Value]) -> Value | None:
    """The same number of another unit of the same sort, or the same digits at another scale, where nothing agrees."""
    sort, unit = _UNITS.get(value.unit, ("", ""))
    same = [other for other in values if other.kind == "amount" and other.amount == value.amount]
    if not same:
        return next((other for other in values if _is_scaled(value, other)), None)
    units = [_UNITS.get(other.unit, ("", "")) for other in same]
    if (sort, unit) in units:
        return None
    return next((other for other, (found, _) in zip(same, units, strict=True) if found == sort != ""), None)


def _is_scaled(value: Value, other: Value) -> bool:
    """Whether both write the same digits, and one counts them in thousands or millions of the other."""
    return other.kind == "amount" and value.amount != other.amount and value.text.split()[0] == other.text.split()[0]


def _same_date(value: Value, other: Value) -> bool:
    if other.kind != "date":
        return False
    one_has_no_year = not (value.amount[0] and other.amount[0])
    return value.amount[1:] == other.amount[1:] and (one_has_no_year or value.amount[0] == other.amount[0])


def _other_number(claim: TextTraits, sentence: TextTraits, held: Sequence[TextTraits]) -> Contradiction | None:
    """A number of the claim that stands nowhere, where the nearest sentence has another."""
    missing = claim.numbers
    for text in held:
        missing = missing - text.vocabulary
    others = sentence.numbers - claim.vocabulary
    if not (missing and others):
        return None
    told = _says(min(others), min(missing)) if len(missing) == len(others) == 1 else "it gives other numbers"
    return Contradiction("number", told)


def _other_polarity(claim: TextTraits, sentence: TextTraits, evidence: Sequence[TextTraits]) -> Contradiction | None:
    """A negation, or a word whose opposite stands in the evidence, on one side alone."""
    if claim.negated:
        said = any(claim.negated & text.vocabulary for text in evidence)
        if said and not any(claim.negated & text.negated for text in evidence):
            return Contradiction("negation", "it says what the claim negates")
    elif sentence.negated & claim.vocabulary:
        return Contradiction("negation", "it negates what the claim says")
    held = frozenset[str]().union(*(text.vocabulary for text in evidence))
    for word in sorted((claim.vocabulary - held) & opposites().keys()):
        if other := opposites()[word] & held - claim.vocabulary:
            return Contradiction("opposite", f'it speaks of the opposite of "{word}": "{min(other)}"')
    return None


def _other_name(claim: str, evidence: Sequence[str]) -> Contradiction | None:
    """A name of the claim in the place where the evidence has another."""
    sure = sure_names((claim, *evidence))
    names = _sure_of(claim, sure)
    if not 0 < len(names) <= _MOST_NAMES:
        return None
    found = [_sure_of(text, sure) for text in evidence]
    return _displaced(names, evidence, found) or _exchanged(claim, names, evidence, found, sure)


def _sure_of(text: str, sure: frozenset[str]) -> list[Name]:
    return [name for name in read_names(text) if not name.opens or name.terms <= sure]


def _displaced(names: Sequence[Name], evidence: Sequence[str], found: Sequence[Sequence[Name]]) -> Contradiction | None:
    """Said of one name what the evidence says of another, in a sentence that does not have the first."""
    claimed = frozenset[str]().union(*(name.terms for name in names))
    vocabularies = [read_traits(text).vocabulary for text in evidence]
    for name in names:
        around = name.around
        own = [
            len(around & words)
            for words, row in zip(vocabularies, found, strict=True)
            for other in row
            if other.terms & name.terms
        ]
        if len(around) < 2 or not own:
            continue
        for words, row in zip(vocabularies, found, strict=True):
            for other in row:
                if other.terms & claimed or other.terms & around or name.terms & words:
                    continue
                fit = len(around & other.around)
                if fit > max(own) and fit >= _OVERLAP * len(around):
                    return Contradiction("swap", f'it says this of "{other.text}", not of "{name.text}"')
    return None


def _exchanged(
    claim: str,
    names: Sequence[Name],
    evidence: Sequence[str],
    found: Sequence[Sequence[Name]],
    sure: frozenset[str],
) -> Contradiction | None:
    """Two names of the claim that the same sentence has in each other's place, told by the words that are no names.

    Not between active and passive voice, where they change places by right.
    """
    passive = _PASSIVE in read_traits(claim).vocabulary
    for text, row in zip(evidence, found, strict=True):
        if (_PASSIVE in read_traits(text).vocabulary) != passive:
            continue
        places = {name: [place for place in row if place.terms & name.terms] for name in names}
        for one, other in _pairs([name for name in names if places[name]]):
            ones, others = places[one], places[other]
            own = _fit(one, ones, sure) + _fit(other, others, sure)
            if _fit(one, others, sure) + _fit(other, ones, sure) - own >= _EXCHANGED_BY:
                return Contradiction("swap", f'it has "{one.text}" and "{other.text}" in each other\'s place')
    return None


def _pairs(names: Sequence[Name]) -> Iterator[tuple[Name, Name]]:
    for index, one in enumerate(names):
        yield from ((one, other) for other in names[index + 1 :] if not one.terms & other.terms)


def _fit(name: Name, places: Sequence[Name], ignored: frozenset[str]) -> int:
    """Words that ``name`` has before and after it as one of ``places`` has."""
    before, after = name.before - ignored, name.after - ignored
    return max(len(before & place.before) + len(after & place.after) for place in places)
