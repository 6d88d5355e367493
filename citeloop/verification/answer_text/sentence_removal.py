"""An answer without some of its sentences, as clean as if they had never been written."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from citeloop.text.markup import FENCED_CODE
from citeloop.verification.answer_text.answer_layout import Place, numbered_runs, read_places
from citeloop.verification.answer_text.citations import ParsedAnswer
from citeloop.verification.answer_text.claims import Claim
from citeloop.verification.answer_text.dependents import CONNECTIVE

_FENCE = re.compile(FENCED_CODE, re.MULTILINE)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_ONLY_MARKS = re.compile(r"[\s|*+•>-]*(?:\d{1,3}[.)])?[\s|]*")


class _Edit(NamedTuple):
    """``text[start:end]`` becomes ``instead``."""

    start: int
    end: int
    instead: str


def without_sentences(answer: ParsedAnswer, sentences: Sequence[Claim], gone: Collection[int]) -> str:
    """The text of ``answer`` without the ``sentences`` whose indexes are ``gone``.

    Their markers go with them, items and rows go whole, ordered lists count on without a gap, code that such a sentence
    introduced goes too, and what followed loses the "However," that tied it to them. Nothing else changes.
    """
    places = read_places(answer, sentences)
    edits = [_Edit(*_unit(sentences[index], places[index]), "") for index in gone]
    edits += _renumbered(answer.text, sentences, places, gone)
    edits += _cut_loose(answer.text, sentences, gone)
    edits += _code_of(answer.text, sentences, gone)
    return _apply(answer.text, sorted(edits))


def _unit(sentence: Claim, place: Place) -> tuple[int, int]:
    start = place.line_start if place.kind in ("row", "table_header", "heading") else place.start
    return min(start, sentence.start), place.end


def _renumbered(
    text: str, sentences: Sequence[Claim], places: Sequence[Place], gone: Collection[int]
) -> Iterator[_Edit]:
    for run in numbered_runs(places, text):
        left = [index for index in run if not _item_goes(index, places, gone)]
        for position, index in enumerate(left):
            first, own = places[run[0]].number, places[index].number
            if first and own and index != run[position]:
                yield _Edit(*own, str(int(text[slice(*first)]) + position))


def _item_goes(index: int, places: Sequence[Place], gone: Collection[int]) -> bool:
    after = next((i for i in range(index + 1, len(places)) if places[i].opens), len(places))
    return all(i in gone for i in range(index, after))


def _cut_loose(text: str, sentences: Sequence[Claim], gone: Collection[int]) -> Iterator[_Edit]:
    for index, sentence in enumerate(sentences):
        tie = CONNECTIVE.match(text, sentence.start, sentence.end)
        if tie and index not in gone and index - 1 in gone:
            yield _Edit(tie.start(), tie.end() + 1, text[tie.end()].upper())


def _code_of(text: str, sentences: Sequence[Claim], gone: Collection[int]) -> Iterator[_Edit]:
    """Code belongs to the sentence before it."""
    for fence in _FENCE.finditer(text):
        if bisect_left(sentences, fence.start(), key=lambda sentence: sentence.start) - 1 in gone:
            yield _Edit(*fence.span(), "")


def _apply(text: str, edits: Sequence[_Edit]) -> str:
    """``text`` edited: lines of which a list mark or bars alone are left go, and leave no second blank line."""
    lines: list[str] = []
    lost = False
    for line, left in _edited_lines(text, edits):
        if left != line and _ONLY_MARKS.fullmatch(left):
            lost = True
        elif left.strip() or not lost or (lines and lines[-1].strip()):
            lines.append(left)
            lost = lost and not left.strip()
    return "".join(lines).strip("\n").rstrip()


def _edited_lines(text: str, edits: Sequence[_Edit]) -> Iterator[tuple[str, str]]:
    """Each line, as it was and as it is."""
    first, at = 0, 0
    for line in _LINE.findall(text):
        end, last = at + len(line), first
        while last < len(edits) and edits[last].start < end:
            last += 1
        yield line, _edited(text, at, end, edits[first:last]) if first < last else line
        first = last - (last > first and edits[last - 1].end > end)
        at = end


def _edited(text: str, start: int, end: int, edits: Sequence[_Edit]) -> str:
    pieces, at = [], start
    for edit in edits:
        pieces.append(text[at : max(at, edit.start)])
        if edit.start >= start:
            pieces.append(edit.instead)
        at = max(at, min(edit.end, end))
    left = "".join([*pieces, text[at:end]])
    return left.rstrip() + ("\n" if text[start:end].endswith("\n") else "")
