"""The values that a sentence gives: amounts with their units, dates, years. By patterns, in English."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from citeloop.text.words import STOPWORDS, stem
from citeloop.verification.evidence.traits import NUMBER_WORDS

ValueKind = Literal["amount", "date", "year"]


class Value(NamedTuple):
    """A value at its place: ``sentence[start:end] == text``."""

    kind: ValueKind
    unit: str
    """Stem of what is counted; of a number without a unit, the word before it."""
    amount: tuple[float, ...]
    """One number; of a date year (0: none given), month and day."""
    text: str
    start: int
    end: int
    bound: str
    """The words before it that make it a bound ("at most"), as written."""
    approximate: bool

    @property
    def told(self) -> str:
        """The value with the words that bound it."""
        return f"{self.bound.lower()} {self.text}".strip()


_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = rf"(?P<month>(?a:{'|'.join(_MONTHS)}))"  # in any case, of ASCII letters alone: "ſeptember" has no number
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY}(?: of)? {_MONTH}\b(?:,? {_YEAR}\b)?",
        rf"\b{_MONTH} {_DAY}\b(?:,? {_YEAR}\b)?",
        rf"\b{_YEAR}-(?P<month>\d{{2}})-{_DAY}\b",
    )
)
_NUMBER = re.compile(
    r"(?<![\w.,:/§#+-])(?P<currency>[$€£¥]|(?:USD|EUR|GBP|CHF) ?)?"
    rf"(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\b(?a:{'|'.join(NUMBER_WORDS)})\b)"
    r"(?!\d|[.,:/]\d|[-–—]?(?:st|nd|rd|th)\b)"
    r"(?: (?P<scale>(?a:thousand|million|billion|trillion))\b)?"
    r"(?P<unit> ?(?:%|€|£)| per ?cent\b|(?:[- ][^\W\d_]+){1,2})?",
    re.IGNORECASE,
)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_NAMED_BY = "after "
"""Begins the unit of a number that no unit follows."""
_CURRENCIES = {"$": "dollar", "usd": "dollar", "€": "euro", "eur": "euro", "£": "pound", "gbp": "pound", "chf": "franc"}
_PERCENT = ("%", "per cent", "percent")
_MEASURES = frozenset(
    "second minute hour day week month year euro dollar pound franc metre meter kilometre kilometer mile percent page"
    " person people employee".split()
)
_BOUND = re.compile(
    r"\b(at least|at most|up to|no more than|no less than|not more than|more than|less than|fewer than|over|under"
    r"|within|a maximum of|a minimum of|until|by|before|after|from|since)\W+(?:the )?\Z",
    re.IGNORECASE,
)
_APPROXIMATE = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|c\.|estimated|an estimated"
    r"|just (?:over|under)|close to)\W+|[~≈]\s*)(?:the )?\Z",
    re.IGNORECASE,
)
_RANGE_BEFORE = re.compile(r"\d[^\s\d]? ?(?:[-–—]|to|or|and|through) ?\Z|\bbetween\W+\Z", re.IGNORECASE)
_RANGE_AFTER = re.compile(r" ?(?:[-–—]|to|or|and|through) ?[$€£]?\d", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_ABOUT, _ROUNDED, _COUNTED = 1.25, 1.05, 100
"""How far apart two amounts may lie of which one is approximate, or rounded; and under what whole numbers are exact."""
_REACH = 24
"""Characters before a value in which the words stand that qualify it."""


@lru_cache(maxsize=16_384)
def read_values(sentence: str) -> tuple[Value, ...]:
    """The values of ``sentence`` in order; not the ends of ranges, nor what can be read in two ways (6.695)."""
    dates, rest = list[Value](), sentence
    for pattern in _DATES:
        dates += (_date(match, sentence) for match in pattern.finditer(rest))
        rest = pattern.sub(lambda match: "\x00" * len(match.group()), rest)
    return tuple(sorted([*dates, *_numbers(rest)], key=lambda value: value.start))


def differ(one: Value, other: Value) -> bool:
    """Whether two values of the same thing contradict each other: neither rounds the other, and both are bounds of the
    same kind or none."""
    if (one.kind, one.unit, one.bound.lower()) != (other.kind, other.unit, other.bound.lower()):
        return False
    if one.kind == "amount":
        return not _may_round(one, other)
    both_years = one.kind == "year" or (one.amount[0] and other.amount[0])
    return one.amount != other.amount if both_years else one.amount[1:] != other.amount[1:]


def _date(match: re.Match[str], sentence: str) -> Value:
    month = match["month"].lower()
    number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month)
    amount = (float(match["year"] or 0), float(number), float(match["day"]))
    return _value("date", "", amount, sentence, *match.span())


def _numbers(sentence: str) -> Iterator[Value]:
    for match in _NUMBER.finditer(sentence):
        number, end = match["number"], match.end("scale") if match["scale"] else match.end("number")
        if _RANGE_BEFORE.search(_before(sentence, match.start())) or _RANGE_AFTER.match(sentence, end):
            continue
        if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", number) or sentence[match.end("number") :][:1].isdigit():
            continue
        amount = float(NUMBER_WORDS.get(number.lower()) or number.replace(",", ""))
        amount *= _SCALES.get((match["scale"] or "").lower(), 1)
        unit, end = _unit(match, sentence, end)
        is_year = re.fullmatch(r"1\d{3}|20\d\d", number) and not match["currency"] and unit.startswith(_NAMED_BY)
        yield _value("year" if is_year else "amount", "" if is_year else unit, (amount,), sentence, match.start(), end)


def _unit(match: re.Match[str], sentence: str, end: int) -> tuple[str, int]:
    """What is counted, and where its name ends: "days" of "27 days", "working days" of "27 working days"."""
    if match["currency"]:
        sign = match["currency"].strip().lower()
        return _CURRENCIES.get(sign, sign), end
    written = (match["unit"] or "").strip(" -").lower()
    if written in (*_PERCENT, *_CURRENCIES):
        return ("%" if written in _PERCENT else _CURRENCIES[written]), match.end("unit")
    first, *second = re.split(r"[ -]", written)
    if first and first not in STOPWORDS:
        if second and second[0].removesuffix("s") in _MEASURES and first.removesuffix("s") not in _MEASURES:
            return f"{stem(first)} {stem(second[0])}", match.end("unit")
        return stem(first), match.start("unit") + 1 + len(first)
    before = _WORD.findall(_before(sentence, match.start()))
    return f"{_NAMED_BY}{stem(before[-1].lower()) if before else ''}", end


def _value(kind: ValueKind, unit: str, amount: tuple[float, ...], sentence: str, start: int, end: int) -> Value:
    before = _before(sentence, start)
    approximate = _APPROXIMATE.search(before)
    bound = _BOUND.search(before[: approximate.start()] if approximate else before)
    return Value(kind, unit, amount, sentence[start:end], start, end, bound[1] if bound else "", bool(approximate))


def _before(sentence: str, position: int) -> str:
    return sentence[max(0, position - _REACH) : position]


def _may_round(one: Value, other: Value) -> bool:
    """Whether one amount may be the other, told less exactly: 9.8 is 10; small whole numbers mean what they say."""
    small, large = sorted((one.amount[0], other.amount[0]))
    if small == large or one.unit.startswith(_NAMED_BY):
        return small == large  # an extension, a room, a version
    if one.approximate or other.approximate:
        return large <= _ABOUT * small
    if large > _ROUNDED * small or (large < _COUNTED and small.is_integer() and large.is_integer()):
        return False
    return _to_digits_of(large, small) == large or _to_digits_of(small, large) == small


def _to_digits_of(rough: float, exact: float) -> float:
    """``exact``, rounded to as many digits as ``rough`` has."""
    digits = len(f"{rough:.12g}".replace(".", "").strip("0"))
    return float(f"{exact:.{digits}g}")
