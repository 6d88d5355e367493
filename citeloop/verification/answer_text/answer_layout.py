"""Where each sentence of an answer stands: in a list, in a table, under a heading."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from citeloop.verification.answer_text.citations import ParsedAnswer
from citeloop.verification.answer_text.claims import Claim

PlaceKind = Literal["heading", "table_header", "row", "item", "prose"]

_MARKERS_AND_SPACE = re.compile(r"(?:\s|\[[^\[\]]*\])*")
_ITEM = re.compile(r"[ \t]*+(?:[-*+•>]|(?P<number>\d{1,3})[.)])[ \t]++")
_ONLY_MARKS = re.compile(r"(?:[-*+•>|\s]|\d{1,3}[.)]|\[[^\[\]]*\])*+")
_HEADING = re.compile(r"[ \t]*+(#{1,6})[ \t]")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]+\1:?")
_BOLD_LEVEL = 7
"""A line in bold type heads what no ``#`` heading does."""
_TABLE_RULE = re.compile(r"\n[ \t]*+\|?[ \t]*+:?-{2,}[^\n]*")
_UNDERLINE = re.compile(r"[ \t]*+\n[ \t]*+(?:={2,}|-{2,})[ \t]*+(?=\n|\Z)")
_OPENER = re.compile(
    r"(?:yes|no|sure|certainly|of course|in (?:summary|short|conclusion|other words)|to summari[sz]e|overall)\W*\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence's place; all positions are characters of the normalised answer."""

    kind: PlaceKind
    line_start: int
    start: int
    """Where what belongs to the sentence begins: its line, where it opens that without a list mark."""
    end: int
    """Where it ends: past its markers and, of a table's header or a heading, the rule below."""
    opens: bool
    """Whether it opens a paragraph, an item, a row or a section, rather than going on in one."""
    indent: int
    level: int
    """Of a heading: 1 is the highest; 0 for all else."""
    introduces: bool
    """Whether it only says that something follows."""
    number: tuple[int, int] | None
    """The digits of an ordered item that it opens."""


def read_places(answer: ParsedAnswer, sentences: Sequence[Claim]) -> list[Place]:
    """The place of each of ``sentences``, in order."""
    starts = [_unit_start(answer.text, sentence) for sentence in sentences]
    borders = [*starts, len(answer.text)][1:]
    return [
        _place(answer, sentence, start, border)
        for sentence, start, border in zip(sentences, starts, borders, strict=True)
    ]


def numbered_runs(places: Sequence[Place], text: str) -> Iterator[list[int]]:
    """Indexes of the items of each ordered list that counts up one by one."""
    open_runs: dict[int, list[int]] = {}
    for index, place in enumerate(places):
        if place.number is None:
            continue
        counted = int(text[slice(*place.number)])
        run = open_runs.get(place.indent)
        if run and counted == _number_of(places[run[-1]], text) + 1:
            run.append(index)
        else:
            if run:
                yield run
            open_runs[place.indent] = [index]
    yield from open_runs.values()


def _number_of(place: Place, text: str) -> int:
    return int(text[slice(*place.number)]) if place.number else 0


def _unit_start(text: str, sentence: Claim) -> int:
    line_start = text.rfind("\n", 0, sentence.start) + 1
    opens = _MARKERS_AND_SPACE.fullmatch(text, line_start, sentence.start)
    return line_start if opens or text.startswith("|", line_start) else sentence.start


def _place(answer: ParsedAnswer, sentence: Claim, start: int, border: int) -> Place:
    text = answer.text
    line_start = text.rfind("\n", 0, sentence.start) + 1
    before = text[line_start : sentence.start]
    item = _ITEM.match(before) if _ONLY_MARKS.fullmatch(before) else None
    heading = _HEADING.match(before)
    kind, end = _kind(text, sentence, line_start, heading, item), _unit_end(answer, sentence, border)
    underline = _UNDERLINE.match(text, sentence.end) if kind == "heading" else None
    if underline:
        end = underline.end()
    elif kind == "table_header" and (rule := _TABLE_RULE.match(text, end)):
        end = rule.end()
    indent = len(before) - len(before.lstrip(" \t"))
    return Place(
        kind=kind,
        line_start=line_start,
        start=start,
        end=end,
        opens=kind != "prose" or (start == line_start and not indent and _follows_blank_line(text, line_start)),
        indent=indent,
        level=_level(heading, underline) if kind == "heading" else 0,
        introduces=not sentence.is_claim and bool(sentence.text.endswith((":", "：")) or _OPENER.match(sentence.text)),
        number=_shifted(item.span("number"), line_start) if item and item["number"] else None,
    )


def _level(heading: re.Match[str] | None, underline: re.Match[str] | None) -> int:
    if heading:
        return len(heading[1])
    return (1 if "=" in underline.group() else 2) if underline else _BOLD_LEVEL


def _shifted(span: tuple[int, int], by: int) -> tuple[int, int]:
    return span[0] + by, span[1] + by


def _follows_blank_line(text: str, line_start: int) -> bool:
    before = text.rfind("\n", 0, max(0, line_start - 1)) + 1
    return not text[before:line_start].strip()


def _kind(
    text: str, sentence: Claim, line_start: int, heading: re.Match[str] | None, item: re.Match[str] | None
) -> PlaceKind:
    if heading or (not sentence.is_claim and _BOLD_LINE.fullmatch(sentence.text)):
        return "heading"
    if not sentence.is_claim and "|" not in sentence.text and _UNDERLINE.match(text, sentence.end):
        return "heading"
    if text[line_start : sentence.start].lstrip().startswith("|"):
        end_of_line = _line_end(text, sentence.end)
        return "table_header" if not sentence.is_claim and _TABLE_RULE.match(text, end_of_line) else "row"
    return "item" if item else "prose"


def _unit_end(answer: ParsedAnswer, sentence: Claim, border: int) -> int:
    """Up to the next sentence in the line, else the line's end, or the last of the markers that follow."""
    last = bisect_right(answer.markers, border, key=lambda marker: marker.end) - 1
    markers_end = answer.markers[last].end if last >= 0 else 0
    return min(border, max(_line_end(answer.text, sentence.end), markers_end))


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
