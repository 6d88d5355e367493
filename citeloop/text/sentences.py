"""Sentences of a text, with their true offsets."""

import re
from typing import NamedTuple

import sentencex

_PARAGRAPH_BREAK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+•|#>]|\d{1,3}[.)])\s)")


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
    for match in _PARAGRAPH_BREAK.finditer(text):
        spans.extend(_sentences_of_block(text, start, match.start()))
        start = match.end()
    spans.extend(_sentences_of_block(text, start, len(text)))
    return spans


def _sentences_of_block(text: str, start: int, end: int) -> list[Span]:
    block = text[start:end].replace("\n", " ").replace("\r", " ")  # same length: a wrapped line is no boundary
    spans = []
    offset = start
    for sentence in sentencex.segment("en", block):
        stripped = sentence.strip()
        if stripped:
            at = offset + sentence.index(stripped)
            spans.append(Span(at, at + len(stripped)))
        offset += len(sentence)
    return spans
