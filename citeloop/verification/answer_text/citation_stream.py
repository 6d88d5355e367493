"""The citation parser for an answer that arrives in pieces, as a model writes it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from citeloop.verification.answer_text.citations import TOKEN, CitationReading, Marker, ParsedAnswer

_BOUNDARY = re.compile(r"(?<=[\s。！？；])(?=[^\W\d])")
"""Before a letter after a space: no group of markers, identifier or gap runs over such a place."""
_OPENER = re.compile(r"^[ \t]*+(?P<fence>`{3}|~{3})|(?P<tick>`)|(?P<bracket>[\[［【〔])", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
_LONGEST_INLINE_CODE = 520
_BODY = r"[^\[\]［］【】〔〕]*+"
_NO_CITATION = re.compile(rf".{_BODY}[\[\]［］【】〔〕]", re.DOTALL)
_WORDS = r"[^\[\]]*+"
_END = r"\](?!\()"
_NO_LINK = re.compile(rf"[^\[]|\[{_WORDS}(?:{_END}|\[{_WORDS}(?:\[|\]{_WORDS}(?:\[|{_END})))")
"""What a link is not: one pair of brackets inside, and a parenthesis after the last."""

_EAGER = 64
"""Characters held back up to which each new piece is a reason to look again."""
_GROWTH = 1.25
"""Beyond them the held text has to grow by so much first, so that all looks together stay linear in the text."""


class CitationStream:
    """``parse_citations`` for text in pieces: however it is cut, the same text, markers and unknown labels come out.

    What could still become a part of a marker, of code or of a link is held back: usually the word being written, at
    the worst a paragraph with a bracket left open, or a block of code.

    >>> stream = CitationStream({"1": 1, "2": 2})
    >>> [stream.feed(piece) for piece in ("Leave is 25 days [", "1, 2", "]. Trav", "el")], stream.close()
    (['Leave is 25 ', '', 'days [1][2]. ', ''], 'Travel')
    """

    def __init__(self, known: Mapping[str, int]) -> None:
        """``known`` as in ``parse_citations``."""
        self._reading = CitationReading(known)
        self._held: list[str] = []
        self._length = 0
        self._look_at = 0.0

    def feed(self, piece: str) -> str:
        """The normalised text that is certain now; empty while nothing more is. ``piece`` may be of any length."""
        self._held.append(piece)
        self._length += len(piece)
        return self._settle() if piece and self._length >= self._look_at else ""

    def close(self) -> str:
        """The rest: nothing follows."""
        rest = "".join(self._held)
        self._hold("")
        return self._reading.read(rest)

    @property
    def answer(self) -> ParsedAnswer:
        """What has come out so far, with its markers."""
        return self._reading.answer

    @property
    def markers(self) -> Sequence[Marker]:
        """The markers of the text that has come out so far, at their places in it."""
        return self._reading.markers

    def _settle(self) -> str:
        held = "".join(self._held)
        cut = _settled_length(held)
        self._hold(held[cut:])
        return self._reading.read(held[:cut]) if cut else ""

    def _hold(self, text: str) -> None:
        self._held, self._length = [text], len(text)
        self._look_at = 0 if self._length <= _EAGER else self._length * _GROWTH


def _settled_length(text: str) -> int:
    """Up to where ``text`` is read the same, whatever follows it."""
    end = max((match.start() for match in _BOUNDARY.finditer(text)), default=0)
    cuts = (match.start() for plain in _plain(text[:end]) for match in _BOUNDARY.finditer(text, *plain))
    return max(cuts, default=0)


def _plain(text: str) -> Iterator[tuple[int, int]]:
    """The stretches between the tokens of ``text``, up to the first that what follows will decide on. ``text`` ends at
    a boundary; the stretches are wider by the character after them, which a boundary may stand before."""
    last_line = text.rfind("\n") + 1
    dead = max((match.start() for match in _BLANK_LINE.finditer(text)), default=0)
    at = 0
    for token in TOKEN.finditer(text):
        opener = _first_open(text, max(at, dead), token.start(), last_line)
        yield at, (token.start() if opener is None else opener) + 1
        if opener is not None or _is_open(text, token, last_line):
            return
        at = token.end()
    opener = _first_open(text, max(at, dead), len(text), last_line)
    yield at, (len(text) if opener is None else opener) + 1


def _is_open(text: str, token: re.Match[str], last_line: int) -> bool:
    """Code that runs to the end; ``[1](...`` and ``[1]: ...``, which the end of the line decides on."""
    if token.end() == len(text):
        return True
    return bool(token["body"]) and text[token.end()] in "(:" and token.end() >= last_line


def _first_open(text: str, start: int, end: int, last_line: int) -> int | None:
    openers = _OPENER.finditer(text, start, end)
    return next((opener.start() for opener in openers if _may_open(text, opener, last_line)), None)


def _may_open(text: str, opener: re.Match[str], last_line: int) -> bool:
    at = opener.start()
    if opener["bracket"]:
        return not (_NO_CITATION.match(text, at) and _NO_LINK.match(text, at))
    return len(text) - at < _LONGEST_INLINE_CODE or (bool(opener["fence"]) and at >= last_line)
