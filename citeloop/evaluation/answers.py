"""Comparing an answer's words with gold strings."""

import re
import unicodedata
from collections.abc import Iterable

_ARTICLES = frozenset({"a", "an", "the"})
_GROUPED_DIGITS = re.compile(r"(?<=\d),(?=\d{3})")
_PUNCTUATION = re.compile(r"[^\w.]|_|(?<!\d)\.|\.(?!\d)")  # the point of 3.5 stays: 3.5 is neither 3 nor 35
_UNSPACED_CHARACTER = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]")
_MARKER = re.compile(r"\s*\[\d+\]")


def normalise_answer(text: str) -> str:
    """Case, punctuation, articles and white space levelled, as in SQuAD's scorer (Rajpurkar et al. 2016).

    Differs from it so that other scripts and numbers hold: compatibility forms are folded, digit groups joined,
    punctuation parts words instead of joining them, and characters of scripts without spaces are words of their own.
    """
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _PUNCTUATION.sub(" ", _GROUPED_DIGITS.sub("", text))
    text = _UNSPACED_CHARACTER.sub(r" \g<0> ", text)
    return " ".join(word for word in text.split() if word not in _ARTICLES)


def holds_answer(text: str, gold_strings: Iterable[str]) -> bool:
    """Whether any gold string stands in ``text``, as whole words, both normalised."""
    padded = f" {normalise_answer(text)} "
    return any(gold and f" {gold} " in padded for gold in map(normalise_answer, gold_strings))


def strip_markers(answer: str) -> str:
    """The answer without its ``[n]`` markers."""
    return _MARKER.sub("", answer)


def count_words(answer: str) -> int:
    """Words of the answer, set apart by white space, its markers not counted."""
    return len(strip_markers(answer).split())
