"""Citation markers of an answer: read in every form that models write, returned in one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from citeloop.text.markup import OPAQUE
from citeloop.verification.labels import LabelReader

# Linear on any input: a run that could be read in two ways is taken whole (``*+``), and no bracket runs over another.
_BRACKETS = r"\\?[\[［【〔](?P<body>[^\[\]［］【】〔〕\\]++)\\?[\]］】〕]"  # or escaped: "\[1\]"
_TOKEN = re.compile(rf"(?P<opaque>{OPAQUE})|{_BRACKETS}")
_GAP_IN_GROUP = re.compile(r"[ \t]*+[,;，、،؛]?[ \t]*+")
_DASHES = frozenset("-–—")

_IDENTIFIER = re.compile(r"(?:\b[b-z]|\w*_\w*|\b[a-z]\w*\.[a-z]\w*)\Z")
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
    r"^[ \t]*+[#*_]*+[ \t]*+(?:sources?|references?|citations?|bibliography)[ \t]*+[*_]*+:?[*_]*+(?=[ \t]*+(?:$|\[))",
    re.IGNORECASE | re.MULTILINE,
)
_SOURCE_ENTRY = re.compile(r"\s*+(?:[-*+•][ \t]++|\d{1,3}[.)][ \t]++)?\\?[\[【［]")


def strip_source_list(answer: str) -> str:
    """``answer`` without the list of sources that a model wrote at its end: ours is built from the parsed numbers."""
    headings = list(_SOURCE_LIST_HEADING.finditer(answer))
    if not headings:
        return answer
    entries = [line for line in answer[headings[-1].end() :].splitlines() if line.strip()]
    is_list = bool(entries) and all(_SOURCE_ENTRY.match(line) for line in entries)
    return answer[: headings[-1].start()].rstrip() if is_list else answer


def parse_citations(answer: str, known: Mapping[str, int]) -> ParsedAnswer:
    """Read the citations of ``answer``.

    ``known`` maps the label of each source as the prompt showed it (``"1"``, ``"D7"``) to its number. Read are
    ``[1]``, ``[1, 2]``, ``[1-3]``, ``[1]-[3]``, ``[1, p. 3]``, ``[1: title]``, ``[[4]]``, ``\\[1\\]``, ``【1】``,
    ``［1］``, ``[D7]`` and ``[source 2]``; left alone are code, Markdown links and array indexes. Unknown labels are
    rejected, never clamped. Linear in the length of the answer.
    """
    normalised = _Normalised(known)
    at = 0
    for group in _groups(answer, LabelReader(known)):
        normalised.write(answer[at : group.start])
        normalised.cite(group.labels)
        at = group.end
    normalised.write(answer[at:])
    return ParsedAnswer("".join(normalised.pieces), tuple(normalised.markers), tuple(normalised.unknown))


@dataclass(slots=True)
class _Group:
    """Markers that stand together, separators and outer brackets included: ``answer[start:end]``."""

    start: int
    end: int
    labels: list[str]


def _groups(answer: str, reader: LabelReader) -> Iterator[_Group]:
    group: _Group | None = None
    for start, end, labels in _citations(answer, reader):
        if group and _GAP_IN_GROUP.fullmatch(answer, group.end, start):
            group.end = end
            group.labels += labels
        elif group and answer[group.end : start] in _DASHES:
            group.end = end
            group.labels[-1:] = reader.read_range(group.labels[-1], labels[0]) + labels[1:]
        else:
            if group:
                yield _without_outer_brackets(answer, group)
            group = _Group(start, end, labels)
    if group:
        yield _without_outer_brackets(answer, group)


def _without_outer_brackets(answer: str, group: _Group) -> _Group:
    """``[[4]]`` and ``[[4], [5]]`` as one group."""
    if answer[group.start - 1 : group.start] == "[" and answer[group.end : group.end + 1] == "]":
        group.start -= 1
        group.end += 1
    return group


def _citations(answer: str, reader: LabelReader) -> Iterator[tuple[int, int, list[str]]]:
    index_end = -1
    for token in _TOKEN.finditer(answer):
        if token["body"] is None:
            continue
        labels = reader.read(token["body"])
        if token.start() == index_end or _is_array_index(answer, token, labels):
            index_end = token.end()
        elif labels:
            yield token.start(), token.end(), labels


def _is_array_index(answer: str, token: re.Match[str], labels: Sequence[str]) -> bool:
    """``x[0]``, ``row.cells[1]``, ``totals[1] = 5``; but ``revenue[1].`` is a citation without its space."""
    before = answer[max(0, token.start() - 40) : token.start()]
    if not before or not (before[-1].isalnum() or before[-1] == "_"):
        return False
    return list(labels) == ["0"] or bool(_IDENTIFIER.search(before) or _CODE_AFTER.match(answer, token.end()))


@dataclass(slots=True)
class _Normalised:
    """The answer as it is written anew."""

    known: Mapping[str, int]
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    markers: list[Marker] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def write(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def cite(self, labels: Sequence[str]) -> None:
        self.unknown += (label for label in labels if label not in self.known)
        cited = [label for label in dict.fromkeys(labels) if label in self.known]
        if not cited:
            self._drop_trailing_space()
        for label in cited:
            start = self.length
            self.write(f"[{label}]")
            self.markers.append(Marker(label, self.known[label], start, self.length))

    def _drop_trailing_space(self) -> None:
        last = self.pieces.pop()
        self.length -= len(last)
        self.write(last.rstrip(" \t"))
