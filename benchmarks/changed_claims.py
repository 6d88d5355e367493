"""Claims made wrong by one change, for training and testing the support model (see ``train_support.py``)."""

import random
import re
from collections.abc import Callable
from typing import TypeAlias

from citeloop.text.polarity import OPPOSITE_PAIRS

Change: TypeAlias = Callable[[str, random.Random], str | None]
"""Gives the changed claim; None when it has nothing of the kind to change."""


def change_number(text: str, rng: random.Random) -> str | None:
    """One number replaced by another of about its size."""
    match = _pick(r"(?<![\w.,])\d{1,7}(?![\w,])", text, rng)
    if match is None:
        return None
    old = int(match.group())
    new = rng.choice([n for step in (1, 2, 3, 5, 10, 20) for n in (old - step, old + step) if n > 0])
    return text[: match.start()] + str(new) + text[match.end() :]


def change_name(text: str, rng: random.Random) -> str | None:
    """One name replaced by another."""
    match = _pick(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b", text, rng)
    if match is None:
        return None
    names = ("Hartmann", "Oslo", "Delgado", "Kyoto", "Brennan", "Tasmania", "Whitlock", "Ferrara", "Nakamura", "Dakota")
    return text[: match.start()] + rng.choice(names) + text[match.end() :]


def change_negation(text: str, rng: random.Random) -> str | None:
    """A "not" taken out, or put in."""
    if re.search(r"\b(?:not|never|no)\b|n't\b", text):
        changed, count = re.subn(r"\b(?:not|never) ", "", text, count=1)
    else:
        verbs = r"\b(is|are|was|were|can|will|should|must|may|could)\b"
        changed, count = re.subn(verbs, r"\1 not", text, count=1)
    return changed if count else None


def change_to_opposite(text: str, rng: random.Random) -> str | None:
    """One word replaced by its opposite."""
    opposites = dict(OPPOSITE_PAIRS) | {other: one for one, other in OPPOSITE_PAIRS}
    match = _pick(rf"\b(?:{'|'.join(opposites)})\b", text, rng)
    return match and text[: match.start()] + opposites[match.group()] + text[match.end() :]


def _pick(pattern: str, text: str, rng: random.Random) -> re.Match[str] | None:
    matches = list(re.finditer(pattern, text))
    return rng.choice(matches) if matches else None


CHANGES: dict[str, Change] = {
    "number": change_number,
    "name": change_name,
    "negation": change_negation,
    "opposite": change_to_opposite,
}
