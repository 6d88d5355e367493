"""Claims made wrong by one change, for training and testing the support model.

``train_support.py`` trains on them, ``perturbed_claims.py`` tests; each on other source datasets. A few of them
are true all the same: another name of the evidence may have done the same, "10%" and "10 percent points" may be one.
"""

import random
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from citeloop.text.polarity import OPPOSITE_PAIRS

Change: TypeAlias = Callable[[str, str, random.Random], str | None]
"""``(claim, evidence, rng)`` to the changed claim; None when the claim has nothing of the kind to change."""

FEWEST_WORDS = 4
"""Of a claim that is worth changing: a name alone states nothing."""

MONTHS = "January February March April May June July August September October November December".split()
_MONTH = rf"(?:{'|'.join(MONTHS)})"
_DATE = re.compile(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?P<m1>{_MONTH})\b|\b(?P<m2>{_MONTH})(?= \d)(?: (?P<d2>\d{{1,2}})(?!\d))?"
    r"|(?<![\w.,$€£])(?P<y1>1[5-9]\d\d|20\d\d)(?![\w,%]|\.\d)"
)
_NUMBER = r"(?<![\w.,\[])(?!(?:1[5-9]\d\d|20\d\d)\b)\d{1,7}(?![\w,\]])"
_UNIT_CLASSES = (
    "kilometers miles meters feet inches",
    "kilometres miles metres feet",
    "kilograms pounds tons",
    "seconds minutes hours days weeks months years",
    "hour day week month year",
    "thousand million billion trillion",
    "percent points",
    "dollars euros pounds",
    "Celsius Fahrenheit",
)
_MEASURED = rf"(?<=\d[ -])(?:{'|'.join(' '.join(_UNIT_CLASSES).replace(' ', '|').split())})\b"
_SIGNS = {"%": " points", "$": "€", "€": "$", "£": "$"}
_NAME = r"\b[A-Z][\w'’-]*[a-z0-9](?: (?:of |de |van |the )?[A-Z][\w'’-]*)*"
_NO_NAME = frozenset(
    "The A An In On At It He She They This That These Those There Section Title However Although While When As By For"
    " From With During After Before Its His Her Their We You If But And Or Some Many Most Such One Two What Who".split()
    + MONTHS
)
_LISTED = frozenset("and or with".split())
_STRANGERS = ("Hartmann", "Oslo", "Delgado", "Kyoto", "Brennan", "Tasmania", "Whitlock", "Ferrara", "Nakamura")


def change_number(claim: str, evidence: str, rng: random.Random) -> str | None:
    """One number, no year nor part of a date, replaced by another of about its size."""
    dates = [span for span, _ in _date_parts(claim)]
    places = [match.span() for match in re.finditer(_NUMBER, claim) if match.span() not in dates]
    return _other_number(claim, rng.choice(places), rng) if places else None


def change_date(claim: str, evidence: str, rng: random.Random) -> str | None:
    """The year, month or day of a date replaced by another."""
    parts = list(_date_parts(claim))
    if not parts:
        return None
    (start, end), kind = rng.choice(parts)
    old = claim[start:end]
    if kind == "y":
        return _other_number(claim, (start, end), rng)
    others = MONTHS if kind == "m" else [str(day) for day in range(1, 29)]
    return claim[:start] + rng.choice([other for other in others if other != old]) + claim[end:]


def _date_parts(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Places of days (d), months (m) and years (y)."""
    for match in _DATE.finditer(text):
        yield from ((match.span(name), name[0]) for name, found in match.groupdict().items() if found)


def change_unit(claim: str, evidence: str, rng: random.Random) -> str | None:
    """What is counted in one unit, counted in another one of the same sort."""
    places = [*re.finditer(_MEASURED, claim), *re.finditer(r"(?<=\d)%|[$€£](?=\d)", claim)]
    if not places:
        return None
    place = rng.choice(places)
    if place.group() in _SIGNS:
        return _put(claim, place, _SIGNS[place.group()])
    same_sort = next(units.split() for units in _UNIT_CLASSES if place.group() in units.split())
    return _put(claim, place, rng.choice([unit for unit in same_sort if unit != place.group()]))


def change_name(claim: str, evidence: str, rng: random.Random) -> str | None:
    """One name replaced by one that stands nowhere in the evidence."""
    match = _pick(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b", claim, rng)
    if match is None or match.group() in MONTHS:
        return None
    strangers = [name for name in _STRANGERS if name not in evidence]
    return _put(claim, match, rng.choice(strangers))


def swap_names(claim: str, evidence: str, rng: random.Random) -> str | None:
    """Two names of the claim exchanged, not of one list; else one replaced by another name of the evidence."""
    names = _names(claim, evidence)
    pairs = [
        (one, other)
        for index, one in enumerate(names)
        for other in names[index + 1 :]
        if _strange(one.group(), other.group()) and not _are_listed(claim[one.end() : other.start()])
    ]
    if pairs and rng.random() < 0.5:
        one, other = rng.choice(pairs)
        between = claim[one.end() : other.start()]
        return claim[: one.start()] + other.group() + between + one.group() + claim[other.end() :]
    others = sorted({m.group() for m in _names(evidence, evidence) if _strange(m.group(), claim)})
    if not names or not others:
        return None
    return _put(claim, rng.choice(names), rng.choice(others))


def change_negation(claim: str, evidence: str, rng: random.Random) -> str | None:
    """A "not" taken out, or put in."""
    if re.search(r"\b(?:not|never|no)\b|n't\b", claim):
        changed, count = re.subn(r"\b(?:not|never) ", "", claim, count=1)
    else:
        verbs = r"\b(is|are|was|were|can|will|should|must|may|could)\b"
        changed, count = re.subn(verbs, r"\1 not", claim, count=1)
    return changed if count else None


def change_to_opposite(claim: str, evidence: str, rng: random.Random) -> str | None:
    """One word replaced by its opposite."""
    opposites = dict(OPPOSITE_PAIRS) | {other: one for one, other in OPPOSITE_PAIRS}
    match = _pick(rf"\b(?:{'|'.join(opposites)})\b", claim, rng)
    return match and _put(claim, match, opposites[match.group()])


def _names(text: str, evidence: str) -> list[re.Match[str]]:
    """Capitalised words of ``text``, those aside that may have their capital from the start of a sentence."""
    names = [match for match in re.finditer(_NAME, text) if match.group().split()[0] not in _NO_NAME]
    return [m for m in names if " " in m.group() or re.search(rf"(?<=[a-z,] ){re.escape(m.group())}\b", evidence)]


def _strange(name: str, text: str) -> bool:
    """Whether no word of ``name`` stands in ``text``."""
    return not any(word.lower() in text.lower() for word in name.split())


def _are_listed(between: str) -> bool:
    """Whether two names stand in one list: nothing but names and "and" is between them."""
    return set(re.findall(r"[a-z]+", re.sub(_NAME, "", between))) <= _LISTED


def _other_number(text: str, place: tuple[int, int], rng: random.Random) -> str:
    start, end = place
    old = int(text[start:end])
    new = rng.choice([n for step in (1, 2, 3, 5, 10, 20) for n in (old - step, old + step) if n > 0])
    return f"{text[:start]}{new}{text[end:]}"


def _put(text: str, place: re.Match[str], new: str) -> str:
    return text[: place.start()] + new + text[place.end() :]


def _pick(pattern: str, text: str, rng: random.Random) -> re.Match[str] | None:
    matches = list(re.finditer(pattern, text))
    return rng.choice(matches) if matches else None


CHANGES: dict[str, Change] = {
    "number": change_number,
    "date": change_date,
    "name": change_name,
    "unit": change_unit,
    "negation": change_negation,
    "opposite": change_to_opposite,
    "swap": swap_names,
}
