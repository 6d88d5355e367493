"""Verbatim quotes: whether a text stands word for word in a passage, and where."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from citeloop.text.plain import PlainText, read_plain
from citeloop.text.sentences import Span
from citeloop.text.words import words
from citeloop.verification.evidence.traits import read_sentences

_LEFT_OUT = re.compile(r"[\u00ad\u200b-\u200d\u2060\ufeff*`]|\[\d{1,3}\]")  # soft hyphens, emphasis, footnote markers
_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("|·", " "),  # what stands between the cells of a table
    }
)
_EDGES = " \"'.,;:!?…。！？"

_FEWEST_WORDS = 4
"""A shorter fragment of a sentence says too little to stand for itself."""

_TURNING = re.compile(
    r"\b(?:not|no|never|nor|neither|cannot|without|unless|if|whether|false|untrue|myth|den(?:y|ies|ied)|doubts?)\b|n't\b"
)
"""What may turn around the meaning of the fragment that follows it in its sentence."""
_ANYTHING = re.compile(r"(?s:.)")


def find_quote(quote: str, passage: str) -> Span | None:
    """Where ``quote`` stands in ``passage``; None when it does not.

    White space, letter case, quotation marks, dashes, ligatures, soft hyphens, footnote markers, the bars of tables and
    all markup that a reader does not see (``citeloop.text.plain``) are set aside. Every sentence of ``quote`` must
    stand in the passage; the span is that of the first, with the markup on it. A fragment of a sentence counts at word
    borders only, from four words on, and when nothing before it in its sentence negates it.
    """
    first: Span | None = None
    for start, end in read_sentences(quote):
        found = _find_sentence(quote[start:end], passage)
        if found is None:
            return None
        first = first or found
    return first


def _find_sentence(sentence: str, passage: str) -> Span | None:
    wanted = _fold(sentence).text.strip(_EDGES)
    may_be_fragment = len(words(wanted)) >= _FEWEST_WORDS
    obstacle = _TURNING if may_be_fragment else _ANYTHING
    rejected: Span | None = None
    for span in _places(wanted, _fold(passage)):
        around = _sentence_around(span, passage)
        if around == rejected or not (may_be_fragment or span.end >= around.end - 3):
            continue
        if not obstacle.search(_folded_between(passage, around.start, span.start)):
            return span
        rejected = around  # what is in the way of this place is in the way of every later one in its sentence
    return None


def _places(wanted: str, folded: "_Folded") -> Iterator[Span]:
    """Where ``wanted`` stands in the passage, at word borders."""
    at = folded.text.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        if _at_word_borders(folded.text, at, end):
            yield folded.source_span(at, end)
        at = folded.text.find(wanted, end)


def _at_word_borders(text: str, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() and text[start].isalnum()) and not (
        text[end : end + 1].isalnum() and text[end - 1].isalnum()
    )


def _sentence_around(span: Span, passage: str) -> Span:
    sentences = read_sentences(passage)
    index = bisect_right(sentences, span.start, key=lambda sentence: sentence.start) - 1
    return sentences[index] if index >= 0 else span


def _folded_between(passage: str, start: int, end: int) -> str:
    """What a reader sees of ``passage[start:end]``, marks at its edges aside."""
    return _fold(passage[start:end]).text.strip(_EDGES + "-#>•")


@dataclass(frozen=True, slots=True)
class _Folded:
    text: str
    origin: tuple[int, ...]
    """Where each character of ``text`` comes from in ``plain.text``."""
    plain: PlainText

    def source_span(self, start: int, end: int) -> Span:
        """The place of ``text[start:end]`` in the original, with the markup that adjoins it."""
        return self.plain.source_span(self.origin[start], self.origin[end - 1] + 1)


@lru_cache(maxsize=4_096)
def _fold(original: str) -> _Folded:
    plain = read_plain(original)
    characters: list[str] = []
    origin: list[int] = []
    left_out = {index for match in _LEFT_OUT.finditer(plain.text) for index in range(*match.span())}
    for index, character in enumerate(plain.text):
        if index in left_out:
            continue
        for folded in _fold_character(character):
            if folded != " " or characters[-1:] != [" "]:
                characters.append(folded)
                origin.append(index)
    return _Folded("".join(characters), tuple(origin), plain)


@lru_cache(maxsize=2_048)
def _fold_character(character: str) -> str:
    same = character.translate(_SAME)
    return " " if same.isspace() else unicodedata.normalize("NFKD", same).casefold()
