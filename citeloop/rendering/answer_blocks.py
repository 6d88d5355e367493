"""The answer as blocks of pieces: paragraphs, list items, headings and code; text, claims and citation markers."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from citeloop.state.models import AnswerClaim

BlockKind = Literal["paragraph", "bullet", "number", "heading", "code"]

_LINE = re.compile(
    r"(?P<fence>[ \t]*(?:`{3,}|~{3,}).*)"
    r"|[ \t]*(?:(?P<heading>#{1,6})|(?P<bullet>[-*+•])|(?P<number>\d{1,3})[.)])[ \t]+"
)
_MARKER = re.compile(r"\[([^\[\]\s]{1,80})\]")


class Piece(NamedTuple):
    """A stretch of the answer that is shown in one way."""

    text: str
    claim: int = 0
    """Which claim it is of, from 1; 0: of none."""
    opens: bool = False
    """Whether the claim begins here: one that runs over several blocks has a piece in each."""
    source: int = 0
    """Number of the source that it cites; 0: it is no citation marker."""


class Block(NamedTuple):
    """A paragraph, an item of a list, a heading, or code."""

    kind: BlockKind
    start: int
    end: int
    """Its characters in the answer, half open: without bullet, number, hashes or fences."""
    ordinal: int = 0
    """Of an item of a numbered list."""


class PiecedBlock(NamedTuple):
    """A block with what is shown of it."""

    kind: BlockKind
    ordinal: int
    pieces: list[Piece]


def answer_blocks(
    answer: str, claims: Sequence[AnswerClaim], labels: Mapping[int, str]
) -> list[tuple[BlockKind, list[PiecedBlock]]]:
    """The blocks of ``answer`` in order, neighbours of a kind together; every character of a block in one piece.

    ``claims`` stand in order, none within another; ``labels`` says how the answer cites each source.
    """
    numbers = {label: number for number, label in labels.items()}
    cut = [
        PiecedBlock(block.kind, block.ordinal, list(_pieces(answer, block, claims, numbers)))
        for block in split_blocks(answer)
    ]
    return [(kind, list(blocks)) for kind, blocks in groupby(cut, key=lambda block: block.kind)]


def split_blocks(answer: str) -> list[Block]:
    """The blocks of ``answer``, by its lines; a paragraph runs on until an empty line or another kind of block."""
    blocks: list[Block] = []
    runs_on = in_code = False
    for start, end in _lines(answer):
        mark = _LINE.match(answer, start, end)
        if mark and mark["fence"]:
            in_code, runs_on = not in_code, False
        elif not in_code and not answer[start:end].strip():
            runs_on = False
        else:
            block = Block("code", start, end) if in_code else _block(mark, start, end)
            if runs_on and block.kind == blocks[-1].kind and block.kind in ("paragraph", "code"):
                block = block._replace(start=blocks.pop().start)
            blocks.append(block)
            runs_on = True
    return blocks


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.split("\n"):
        yield at, at + len(line)
        at += len(line) + 1


def _block(mark: re.Match[str] | None, start: int, end: int) -> Block:
    if mark is None:
        return Block("paragraph", start, end)
    kind: BlockKind = "heading" if mark["heading"] else "bullet" if mark["bullet"] else "number"
    return Block(kind, mark.end(), end, int(mark["number"] or 0))


def _pieces(answer: str, block: Block, claims: Sequence[AnswerClaim], numbers: Mapping[str, int]) -> Iterator[Piece]:
    at = block.start
    first = bisect_right(claims, at, key=lambda claim: claim.span_in_response[1])
    last = bisect_left(claims, block.end, key=lambda claim: claim.span_in_response[0])
    for index in range(first, last):
        claim = claims[index]
        start, end = max(claim.span_in_response[0], at), min(claim.span_in_response[1], block.end)
        if start < end:
            yield from _marked(answer, at, start, block, numbers)
            yield Piece(answer[start:end], claim=index + 1, opens=start == claim.span_in_response[0])
            at = end
    yield from _marked(answer, at, block.end, block, numbers)


def _marked(answer: str, start: int, end: int, block: Block, numbers: Mapping[str, int]) -> Iterator[Piece]:
    """The text between two claims, its citation markers apart; code holds none."""
    at = start
    for marker in () if block.kind == "code" else _MARKER.finditer(answer, start, end):
        if marker[1] in numbers:
            if at < marker.start():
                yield Piece(answer[at : marker.start()])
            yield Piece(marker[1], source=numbers[marker[1]])
            at = marker.end()
    if at < end:
        yield Piece(answer[at:end])
