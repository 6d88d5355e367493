"""Names in a text, each with the words around it: who or what a sentence says something of. By capitals."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from citeloop.text.words import STOPWORDS
from citeloop.verification.evidence.traits import read_term

_WORD = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_JOINED_BY = frozenset((" ", "-", ". "))
_REACH = 5
"""Content words on either side that are taken to belong to a name."""


class Token(NamedTuple):
    """A word at its place: ``text[start:end]``."""

    term: str
    """Its stem; of a number its digits."""
    capital: bool
    start: int
    end: int
    is_content: bool


class Name(NamedTuple):
    """A run of capitalised words."""

    text: str
    start: int
    """Where it begins."""
    terms: frozenset[str]
    before: frozenset[str]
    """Terms of the content words before it, the nearest five."""
    after: frozenset[str]
    opens: bool
    """One word at the start of the text: its capital may come from there."""

    @property
    def around(self) -> frozenset[str]:
        """The words on both sides."""
        return self.before | self.after


@lru_cache(maxsize=16_384)
def read_tokens(text: str) -> tuple[Token, ...]:
    """All words in order."""
    return tuple(_token(match) for match in _WORD.finditer(text))


@lru_cache(maxsize=16_384)
def read_names(text: str) -> tuple[Name, ...]:
    """The names of a sentence in order, doubtful ones included."""
    tokens = read_tokens(text)
    return tuple(_name(text, tokens, start, end) for start, end in _runs(text, tokens))


def sure_names(texts: Iterable[str]) -> frozenset[str]:
    """Terms of the words that are capitalised elsewhere than at the start of a sentence."""
    return frozenset().union(*(name.terms for text in texts for name in read_names(text) if not name.opens))


def _token(match: re.Match[str]) -> Token:
    word = match.group().lower()
    term = "not" if word.endswith(("n't", "n’t")) else read_term(word)
    return Token(term, match.group()[0].isupper(), *match.span(), word not in STOPWORDS)


def _runs(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(tokens):
        end = start
        while end < len(tokens) and tokens[end].capital and tokens[end].is_content and _joins(text, tokens, start, end):
            end += 1
        if end > start:
            yield start, end
        start = max(end, start + 1)


def _joins(text: str, tokens: Sequence[Token], start: int, end: int) -> bool:
    return end == start or text[tokens[end - 1].end : tokens[end].start] in _JOINED_BY


def _name(text: str, tokens: Sequence[Token], start: int, end: int) -> Name:
    terms = frozenset(token.term for token in tokens[start:end])
    before = [token.term for token in tokens[:start] if token.is_content][-_REACH:]
    after = [token.term for token in tokens[end:] if token.is_content][:_REACH]
    first = tokens[start].start
    written = text[first : tokens[end - 1].end]
    return Name(written, first, terms, frozenset(before) - terms, frozenset(after) - terms, end == 1)
