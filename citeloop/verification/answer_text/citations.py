"""Citation markers of an answer: read in every form that models write, returned in one."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from citeloop.text.markup import OPAQUE
from citeloop.verification.answer_text.labels import LabelReader

# Linear on any input: a run that could be read in two ways is taken whole (``*+``), and no bracket runs over another.
_BODY = r"(?P<body>(?:[^\[\]［］【】〔〕\\\n]++|\n(?![ \t]*+\n))++)"
_BRACKETED = rf"(?<!\\)\\*+[\[［【〔]{_BODY}\\?[\]］】〕]"  # or escaped: "\[1\]"
TOKEN = re.compile(rf"(?P<opaque>{OPAQUE})|{_BRACKETED}")
"""What may be a citation (it has a ``body``), or is code or a link, in which there is none."""
_GAP_IN_GROUP = re.compile(r"[ \t]*+[,;，、،؛]?[ \t]*+")
_DASHES = frozenset("-–—")

_SYNTAX = frozenset("[]［］【】〔〕`~\\")
"""Must not come to stand beside other characters when a marker between them is taken out."""

_IDENTIFIER = re.compile(r"(?:(?<![\w\u0300-\u036f])[b-z]|\w*_\w*|\b[a-z]\w*\.[a-z]\w*)\Z")
_CODE_AFTER = re.compile(r"\s*+=(?!=)|\(|\.[a-z_]\w")


@dataclass(frozen=True, slots=True)
class Marker:
    """One citation at its place: ``text[start:end]`` is ``[label]`` in the normalised answer."""

    label: str
    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """An answer whose every marker leads to a source."""

    text: str
    """The answer with its markers written ``[1][2]``; markers that lead nowhere are taken out."""
    markers: tuple[Marker, ...]
    unknown: tuple[str, ...]
    """The labels taken out, repeats kept: each is an invalid citation."""


_SOURCE_LIST_HEADING = re.compile(
    r"^[ \t]*+[#*_]*+[ \t]*+(?:sources?|references?|citations?|bibliography)[ \t]*+[*_]*+:?[*_]*+"
    r"(?=[ \t]*+(?:$|\\?[\[【［〔]))",
    re.IGNORECASE | re.MULTILINE,
)
_SOURCE_ENTRY = re.compile(r"\s*+(?:[-*+•][ \t]++|\d{1,3}[.)][ \t]++)?\\?[\[【［〔]")


def strip_source_list(answer: str) -> str:
    """``answer`` without the list of sources that a model wrote at its end: ours is built from the parsed numbers."""
    end = find_source_list(answer)
    return answer if end == len(answer) else answer[:end].rstrip()


def find_source_list(answer: str) -> int:
    """Where the list of sources at the end of ``answer`` begins; its length where there is none."""
    headings = list(_SOURCE_LIST_HEADING.finditer(answer))
    if not headings:
        return len(answer)
    entries = [line for line in answer[headings[-1].end() :].splitlines() if line.strip()]
    is_list = bool(entries) and all(_SOURCE_ENTRY.match(line) for line in entries)
    return headings[-1].start() if is_list else len(answer)


def parse_citations(answer: str, known: Mapping[str, int]) -> ParsedAnswer:
    """Read the citations of ``answer``.

    ``known`` maps the label of each source as the prompt showed it (``"1"``, ``"D7"``) to its number. Read are
    ``[1]``, ``[1, 2]``, ``[1-3]``, ``[1]-[3]``, ``[1, p. 3]``, ``[1: title]``, ``[[4]]``, ``\\[1\\]``, ``【1】``,
    ``［1］``, ``[D7]`` and ``[source 2]``; left alone are code, Markdown links and array indexes. Unknown labels are
    rejected, never clamped. Linear in the length of the answer.
    """
    reading = CitationReading(known)
    reading.read(answer)
    return reading.answer


class CitationReading:
    """An answer as it is read and written anew, stretch by stretch. No marker may run over two stretches: who has the
    text in any other pieces feeds it to a ``CitationStream``."""

    def __init__(self, known: Mapping[str, int]) -> None:
        """``known`` as in ``parse_citations``."""
        self._reader = LabelReader(known)
        self._normalised = _Normalised(known)

    def read(self, stretch: str) -> str:
        """The stretch in its normalised form."""
        before = len(self._normalised.pieces)
        at = 0
        for group in _groups(stretch, self._reader):
            self._normalised.write(stretch[at : group.start])
            self._normalised.cite(group.labels)
            at = group.end
        self._normalised.write(stretch[at:])
        return "".join(self._normalised.pieces[before:])

    @property
    def markers(self) -> Sequence[Marker]:
        """The markers so far."""
        return self._normalised.markers

    @property
    def answer(self) -> ParsedAnswer:
        """All that was read so far."""
        n = self._normalised
        return ParsedAnswer("".join(n.pieces), tuple(n.markers), tuple(n.unknown))


class _Group(NamedTuple):
    """Markers that stand together, separators and outer brackets included: ``answer[start:end]``."""

    start: int
    end: int
    labels: list[str]


def _groups(answer: str, reader: LabelReader) -> Iterator[_Group]:
    """Joined twice: in ``[1] [[2], [3]]`` an outer bracket, which is closed later, keeps the first two apart."""
    return _joined(answer, reader, _joined(answer, reader, _citations(answer, reader)))


def _joined(answer: str, reader: LabelReader, groups: Iterable[_Group]) -> Iterator[_Group]:
    group: _Group | None = None
    for one in groups:
        new = _with_outer_brackets(answer, one)
        if group and _GAP_IN_GROUP.fullmatch(answer, group.end, new.start):
            group.labels.extend(new.labels)  # in place: many markers may stand together
            group = group._replace(end=new.end)
        elif group and answer[group.end : new.start] in _DASHES:
            group.labels[-1:] = reader.read_range(group.labels[-1], new.labels[0]) + new.labels[1:]
            group = group._replace(end=new.end)
        else:
            if group:
                yield group
            group = new
        group = _with_outer_brackets(answer, group)
    if group:
        yield group


def _with_outer_brackets(answer: str, group: _Group) -> _Group:
    """``[[4]]`` and ``[[4], [5]]`` as one group."""
    if answer[group.start - 1 : group.start] != "[" or answer[group.end : group.end + 1] != "]":
        return group
    start, end, labels = group.start - 1, group.end, group.labels
    while answer[start - 1 : start] == "\\":
        start -= 1
    return _Group(start, end + 1, labels)


def _citations(answer: str, reader: LabelReader) -> Iterator[_Group]:
    index_end = -1
    for token in TOKEN.finditer(answer):
        if token["body"] is None:
            continue
        labels = reader.read(token["body"])
        if token.start() == index_end or _is_array_index(answer, token, labels):
            index_end = token.end()
        elif labels:
            yield _Group(token.start(), token.end(), labels)


def _is_array_index(answer: str, token: re.Match[str], labels: Sequence[str]) -> bool:
    """``x[0]``, ``row.cells[1]``, ``totals[1] = 5``; but ``revenue[1].`` is a citation without its space."""
    start, end, _ = _with_outer_brackets(answer, _Group(token.start(), token.end(), []))
    before = answer[max(0, start - 40) : start]
    if not before or not (before[-1].isalnum() or before[-1] == "_"):
        return False
    return list(labels) == ["0"] or bool(_IDENTIFIER.search(before) or _CODE_AFTER.match(answer, end))


@dataclass(slots=True)
class _Normalised:
    """The answer as it is written anew."""

    known: Mapping[str, int]
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    markers: list[Marker] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    took_out: bool = False
    """Whether a marker was taken out just here."""

    def write(self, text: str) -> None:
        """Plain text. A space keeps it from making a link of the marker before it, or one word of the two around a
        marker that was taken out."""
        if text and self._glues(text):
            text = f" {text}"
        self.took_out = self.took_out and not text
        self._append(text)

    def cite(self, labels: Sequence[str]) -> None:
        self.unknown += (label for label in labels if label not in self.known)
        cited = [label for label in dict.fromkeys(labels) if label in self.known]
        if not cited:
            self._take_out()
        for label in cited:
            start = self.length
            self._append(f"[{label}]")
            self.markers.append(Marker(label, self.known[label], start, self.length))

    def _glues(self, text: str) -> bool:
        last = self.pieces[-1][-1:] if self.pieces else ""
        if self.took_out:
            return (last.isalnum() and text[0].isalnum()) or last in _SYNTAX or text[0] in _SYNTAX
        return bool(self.markers) and self.markers[-1].end == self.length and text[0] == "("

    def _take_out(self) -> None:
        last = self.pieces.pop() if self.pieces else ""
        self.length -= len(last)
        self._append(last.rstrip(" \t"))
        self.took_out = True

    def _append(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)
