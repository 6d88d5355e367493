"""Names in a text, and the one form under which the spellings of a name meet. By patterns, without a model."""

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from citeloop.text.words import STOPWORDS, has_unspaced_script

_MOST_WORDS = 8
"""Words of a name at the most."""
_ARTICLES = ("the", "a", "an")

_QUALIFIER = re.compile(r"\s*[(\[][^()\[\]]{0,80}[)\]]\s*")
_WORD = re.compile(r"[^\W_]+(?:['’.&/-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s(?!\S)|(?<=s)['’](?!\S)")
_MARK = re.compile(r"[^\w\s]|_")
_CAPITALISED = r"(?:(?:[A-Z]\.)+|(?![\d_a-zß-öø-ÿ])\w[\w'’&-]*|\d{1,4}\b)"
_SMALL = r"(?:of|the|de|la|le|du|des|von|van|der|den|da|di|del|y|and|for|in|on|to|e|et|&)"
_RUN = re.compile(rf"\b{_CAPITALISED}(?:[ \u00a0](?:{_SMALL}[ \u00a0]){{0,2}}{_CAPITALISED}){{0,{_MOST_WORDS - 1}}}")
_JOINED_BY = re.compile(rf"[ \u00a0](?:{_SMALL}[ \u00a0]){{1,2}}")
_QUOTED = re.compile(r"[\"“”«]([^\"“”«»\n]{2,80})[\"”»]")
_SET_OFF = re.compile(r"(?:\*\*|__|`)([^*_`\n]{2,60})(?:\*\*|__|`)|\[([^\[\]\n]{2,80})\]\(")


class Name(NamedTuple):
    """A name at its place in a text."""

    form: str
    """What all its spellings share: see ``canonical_name``."""
    spelling: str
    start: int


@lru_cache(maxsize=65_536)
def canonical_name(name: str) -> str:
    """``name`` without what spellings of it differ in; empty where nothing is left.

    Case, accents, marks, possessives, a leading article, a qualifier in brackets ("Arrival (film)" is "arrival"), the
    points and gaps of initials ("J. R. R. Tolkien", "J.R.R. Tolkien") and a middle initial make no difference.
    """
    bare = (_QUALIFIER.sub(" ", name).strip() or name) if "(" in name or "[" in name else name
    tokens = _join_initials(_MARK.sub(" ", _POSSESSIVE.sub("", _fold(bare))).split())
    if len(tokens) > 1 and tokens[0] in _ARTICLES:
        tokens = tokens[1:]
    if len(tokens) > 2:
        tokens = [tokens[0], *(token for token in tokens[1:-1] if len(token) > 1), tokens[-1]]
    return " ".join(tokens)


def is_telling(form: str) -> bool:
    """Whether a canonical form can stand for something: neither a number, a stop word, nor a word of two letters."""
    return len(form) > 2 and not form.isdecimal() and form not in STOPWORDS and form.count(" ") < _MOST_WORDS


def find_names(text: str) -> list[Name]:
    """What ``text`` calls by a name, by its look, each form once: capitalised runs, whole and cut at the small words
    inside them; what stands in quotes; what Markdown sets off (bold, code, the text of a link)."""
    first: dict[str, Name] = {}
    for spelling, start in _spellings(text):
        form = canonical_name(spelling)
        if is_telling(form):
            first.setdefault(form, Name(form, spelling, start))
    return list(first.values())


def name_windows(text: str, *, capitalised: bool) -> list[list[Name]]:
    """For each word of ``text`` the runs of words that begin with it, longest first: what could be a name of something
    known, however it is spelt here.

    None begins with an article, nor, in texts that are ``capitalised`` as names are, with a small letter.
    """
    spans = [match.span() for match in _WORD.finditer(text)]
    return [
        [] if _begins_none(text[start:end], capitalised) else list(_windows(text, spans[at : at + _MOST_WORDS]))
        for at, (start, end) in enumerate(spans)
    ]


class StandingForms:
    """Which canonical forms stand in some texts, however they are spelt there."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        windows = (runs for text in texts for runs in name_windows(text, capitalised=False))
        self._forms = {name.form for runs in windows for name in runs}

    def __contains__(self, form: str) -> bool:
        return form in self._forms or (has_unspaced_script(form) and any(form in _fold(text) for text in self._texts))


def match_names(windows: Sequence[Sequence[Name]], known: Container[str]) -> list[Name]:
    """The ``known`` names among ``windows``, the longest at each place and none inside another; each form once."""
    found: dict[str, Name] = {}
    free_from = 0
    for name in (next((name for name in runs if name.form in known), None) for runs in windows):
        if name is not None and name.start >= free_from:
            found.setdefault(name.form, name)
            free_from = name.start + len(name.spelling)
    return list(found.values())


def _fold(text: str) -> str:
    """``text`` without case and accents."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return folded if folded.isascii() else "".join(mark for mark in folded if not unicodedata.combining(mark))


def _begins_none(word: str, capitalised: bool) -> bool:
    return word.casefold() in _ARTICLES or (capitalised and word[0].islower())


def _windows(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Name]:
    start = spans[0][0]
    for _, end in reversed(spans):
        form = canonical_name(text[start:end])
        if is_telling(form):
            yield Name(form, text[start:end], start)


def _spellings(text: str) -> Iterator[tuple[str, int]]:
    for pattern in (_QUOTED, _SET_OFF):
        for match in pattern.finditer(text):
            yield match[match.lastindex or 0].strip(), match.start()
    for match in _RUN.finditer(text):
        yield match[0], match.start()
        at = match.start()
        for gap in _JOINED_BY.finditer(text, *match.span()):
            yield text[at : gap.start()], at
            at = gap.end()
        if at > match.start():
            yield text[at : match.end()], at


def _join_initials(tokens: Sequence[str]) -> list[str]:
    joined: list[str] = []
    in_initials = False
    for token in tokens:
        is_initial = len(token) == 1 and token.isalpha()
        if is_initial and in_initials:
            joined[-1] += token
        else:
            joined.append(token)
        in_initials = is_initial
    return joined
