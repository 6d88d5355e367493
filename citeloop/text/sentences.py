"""Sentences of a text, with their true offsets."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import sentencex

_BREAK = re.compile(
    r"\n\s*\n"  # a blank line
    r"|\n(?=[ \t]*(?:\||(?:[-*+•>]|\d{1,3}[.)]|\#{1,6})\s))"  # a table row, a list item, a quote or a heading follows
)
_ITEM_MARK = re.compile(  # belongs to the sentence after it; the segmenter splits "1." off and reads on past "(1)"
    r"\s*(?:[-*+•>]|\d{1,3}[.)]|[A-Za-z][.)]|\(\w{1,4}\))\s+(?=\S)"
)
_WHOLE_LINE = re.compile(r"\s*(?:#{1,6}\s|\|)[^\n]{0,1000}$", re.MULTILINE)  # a heading, a table row
_SPACE, _SURROGATE = re.compile(r"\s"), re.compile(r"[\ud800-\udfff]")
_WINDOW = 10_000  # characters: the segmenter takes quadratic time where quotation marks stay open

_PAIRS = ("()", "（）", "[]", "{}", "<>", "“”", "„“", "«»", "‹›", "「」", "《》", "‘’", "‚‘", '""', "``")
"""Marks between which the segmenter ends no sentence."""


class Span(NamedTuple):
    """Half-open character range ``text[start:end]``."""

    start: int
    end: int


def split_sentences(text: str) -> list[Span]:
    """The sentences of ``text`` in order, as ranges without surrounding white space; blank ones are left out.

    Paragraph breaks, list items, table rows and headings end a sentence; a single line break inside a paragraph does
    not. Deterministic: the same text gives the same ranges at ingest and at question time. Linear in the text's length.
    """
    spans: list[Span] = []
    start = 0
    for match in _BREAK.finditer(text):
        spans.extend(_sentences_of_block(text, start, match.start()))
        start = match.end()
    spans.extend(_sentences_of_block(text, start, len(text)))
    return spans


def undecided_from(text: str) -> int:
    """Up to where the sentences of ``text``, the last one aside, are the same whatever follows: the first mark in its
    last block that is open, which what follows may close."""
    last = max((match.end() for match in _BREAK.finditer(text)), default=0)
    return min(last + _first_open(text[last:], pair) for pair in _PAIRS)


def _first_open(block: str, pair: str) -> int:
    opening, closing = pair[0], pair[1]
    if opening == closing:
        return block.rfind(opening) if block.count(opening) % 2 else len(block)
    found = block.find(opening, block.rfind(closing) + 1)
    return len(block) if found < 0 else found


def _sentences_of_block(text: str, start: int, end: int) -> Iterator[Span]:
    line = _WHOLE_LINE.match(text, start, end)
    if line:
        yield _strip(text, start, line.end())
        start = line.end()
    while start < end:
        stop = _window_end(text, start, end)
        spans = _segment(text, start, stop)
        if stop < end and len(spans) > 1:
            stop = spans.pop().start  # it may go on beyond the window: read again from there
        yield from spans
        start = stop


def _window_end(text: str, start: int, end: int) -> int:
    stop = start + _WINDOW
    if stop >= end:
        return end
    space = text.rfind(" ", start + _WINDOW // 2, stop)
    return space + 1 or stop


def _segment(text: str, start: int, end: int) -> list[Span]:
    block = _SPACE.sub(" ", text[start:end])  # a wrapped line is no boundary; the segmenter fails on some wide spaces
    block = _SURROGATE.sub("\ufffd", block)  # half a character, which the segmenter does not take
    spans: list[Span] = []
    for sentence in _read_past_mark(block):
        for part in _read_past_mark(sentence) if _ITEM_MARK.match(sentence) else (sentence,):
            if not part.isspace():
                spans.append(_strip(text, start, start + len(part)))
            start += len(part)
    return spans


def _read_past_mark(block: str) -> list[str]:
    """``block`` cut into its sentences, an item mark at its start kept with the first."""
    mark = _ITEM_MARK.match(block)
    length = mark.end() if mark else 0
    first, *others = sentencex.segment("en", block[length:])
    return [block[:length] + first, *others]


def _strip(text: str, start: int, end: int) -> Span:
    content = text[start:end]
    start += len(content) - len(content.lstrip())
    return Span(start, start + len(content.strip()))
