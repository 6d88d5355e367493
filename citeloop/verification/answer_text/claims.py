"""The claims of an answer: its sentences, each with the citations that stand for it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from citeloop.text.markup import FENCED_CODE
from citeloop.text.sentences import Span, split_sentences
from citeloop.text.words import words
from citeloop.verification.answer_text.abstention import abstains
from citeloop.verification.answer_text.citations import Marker, ParsedAnswer
from citeloop.verification.answer_text.courtesies import says_nothing


@dataclass(frozen=True, slots=True)
class CitedPart:
    """The stretch of a claim that one group of markers closes: "revenue was $10M [1], up 15% [2]" has two."""

    text: str
    numbers: tuple[int, ...]
    start: int
    end: int
    """Its characters in the normalised answer, half open."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer."""

    text: str
    """Without markers and list bullets."""
    start: int
    end: int
    """Its characters in the normalised answer, half open; markers at its end are left out."""
    parts: tuple[CitedPart, ...]
    is_claim: bool
    """False for headings, lead-ins, questions, courtesies and sentences that say what was not found, when they cite
    nothing."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The sources cited, in the order of the answer, each once."""
        return tuple(dict.fromkeys(number for part in self.parts for number in part.numbers))


def split_claims(answer: ParsedAnswer) -> list[Claim]:
    """The sentences of ``answer`` in order; code blocks are no sentences.

    A marker belongs to the sentence it stands in or, after the full stop, to the one before. Items of a list that cite
    nothing themselves inherit the citations of the line that introduces them ("The steps are [1]:").
    """
    spans = _sentence_spans(answer)
    owned: list[list[Marker]] = [[] for _ in spans]
    for marker in answer.markers if spans else ():
        owned[_owner(answer.text, spans, marker)].append(marker)
    claims = (_read_claim(answer.text, span, markers) for span, markers in zip(spans, owned, strict=True))
    return _inherit_from_lead_ins(answer.text, [claim for claim in claims if claim is not None])


def without_markers(answer: ParsedAnswer) -> str:
    """The text of ``answer`` with no citation left in it."""
    return _without_markers(answer.text, Span(0, len(answer.text)), answer.markers)


_FENCE = re.compile(FENCED_CODE, re.MULTILINE)
_CLOSING = re.compile(r"[^\S\n]*(?P<marks>[*_\"”’»]++)(?:\s+|\Z)")
"""The end of emphasis or of a quotation, which the segmenter gives to the next sentence."""
_CONTINUES = re.compile(r"[,;:)\]%]|[a-zа-яё]")
_GOES_ON = re.compile(  # at the end of what the segmenter took for a sentence
    r"[。！？][”」』](?=\w)"  # a quotation inside a Chinese or Japanese sentence
    r"|(?<!\d)\d{1,3}\.(?=\s(?:Jan|Jän|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrh|Quartal|Tag|Platz|Aufl|Stock|Weltk))"
    r"|(?<!\w)т\.\s?е\."  # Russian for "i.e."
)
_OWN_LINE = re.compile(
    r"(?P<bold>(?:\*\*|__)[^*_\n]+(?:\*\*|__):?)[^\S\n]*+\n\s*+"
    r"|(?P<title>(?>[^\n]*\S))[^\S\n]*+\n[ \t]*+(?:={2,}|-{2,})[^\S\n]*+(?:\n\s*+|\Z)"
)
"""A bold line or an underlined heading: it ends with its line, though no full stop says so."""
_LABEL_BELOW = re.compile(r"\n(?=[ \t]*+(?:\*\*|__)[^*_\n]+(?:(?:\*\*|__):|:(?:\*\*|__)))")
"""The next line begins with a bold label ("**Leave**: 25 days"): it is a sentence of its own."""


def _sentence_spans(answer: ParsedAnswer) -> list[Span]:
    """Sentences of the answer with code and markers blanked, so that neither hides or makes a sentence's end."""
    text = _FENCE.sub(lambda match: "\n" * len(match.group()), blank_markers(answer))
    spans: list[Span] = []
    for span in split_sentences(text):
        if spans and _is_one(text, spans[-1], span):
            span = Span(spans.pop().start, span.end)  # "Smith et al. [1], who ..." is one sentence
        elif spans and (closing := _CLOSING.match(text, spans[-1].end, span.end)):
            spans[-1] = Span(spans[-1].start, closing.end("marks"))  # "**Leave is 25 days.** [1] ..."
            span = Span(closing.end(), span.end)
        spans.append(span)
    return [part for span in spans for part in _without_own_lines(text, span)]


def _is_one(text: str, before: Span, span: Span) -> bool:
    if "\n" in text[before.end : span.start]:
        return False
    return bool(_CONTINUES.match(text, span.start) or _GOES_ON.search(text, before.end - 5, span.start + 8))


def _without_own_lines(text: str, span: Span) -> Iterator[Span]:
    while line := _OWN_LINE.match(text, *span):
        yield Span(span.start, span.start + len(line["bold"] or line["title"]))
        span = Span(line.end(), span.end)
    for label in _LABEL_BELOW.finditer(text, *span):
        yield Span(span.start, label.start())
        span = Span(label.end(), span.end)
    if span.start < span.end:
        yield span


def blank_markers(answer: ParsedAnswer) -> str:
    """The text of ``answer`` with spaces in place of its markers."""
    borders = [0, *(offset for marker in answer.markers for offset in (marker.start, marker.end)), len(answer.text)]
    pieces = (answer.text[start:end] for start, end in pairwise(borders))
    return "".join(" " * len(piece) if index % 2 else piece for index, piece in enumerate(pieces))


def _owner(text: str, spans: Sequence[Span], marker: Marker) -> int:
    """Index of the sentence that ``marker`` belongs to: the next one only for a marker that opens its line."""
    at = max(0, bisect_right(spans, marker.start, key=lambda span: span.start) - 1)
    opens_line = at + 1 < len(spans) and text.find("\n", spans[at].end, marker.start) >= 0
    return at + 1 if opens_line and text.find("\n", marker.end, spans[at + 1].start) < 0 else at


_BULLET = re.compile(r"(?:(?:[-*+•>|]|#{1,6}|\d{1,3}[.)])(?:[ \t]++|\Z))++")


def _read_claim(text: str, span: Span, markers: Sequence[Marker]) -> Claim | None:
    bullet = _BULLET.match(text, span.start, span.end)
    start = bullet.end() if bullet else span.start
    plain = _without_markers(text, Span(start, span.end), markers)
    if not words(plain):
        return None
    is_claim = bool(markers) or not (_is_heading(text, span, plain) or says_nothing(plain) or abstains(plain))
    return Claim(plain, start, span.end, tuple(_parts(text, Span(start, span.end), markers, plain)), is_claim)


def _without_markers(text: str, span: Span, markers: Sequence[Marker]) -> str:
    inside = [marker for marker in markers if span.start <= marker.start and marker.end <= span.end]
    borders = [span.start, *(offset for marker in inside for offset in (marker.start, marker.end)), span.end]
    kept = [text[start:end] for start, end in pairwise(borders)][::2]
    return "".join([*(piece.rstrip(" \t") for piece in kept[:-1]), kept[-1]]).strip(" \t|")


_FEWEST_WORDS_IN_PART = 4


def _parts(text: str, span: Span, markers: Sequence[Marker], plain: str) -> list[CitedPart]:
    """One part for each group of adjacent markers; the whole claim as one when a part would say too little."""
    if not markers:
        return []
    groups = _adjacent(markers)
    starts = [span.start, *(group[-1].end for group in groups[:-1])]
    ends = [*(group[0].start for group in groups[:-1]), max(span.end, starts[-1])]
    parts = [
        CitedPart(_without_markers(text, stretch, group).strip(" ,;"), _numbers(group), *_trimmed(text, stretch))
        for stretch, group in zip(map(Span, starts, ends), groups, strict=True)
    ]
    if any(len(words(part.text)) < _FEWEST_WORDS_IN_PART for part in parts):
        return [CitedPart(plain, _numbers(markers), *span)]
    return parts


def _trimmed(text: str, stretch: Span) -> Span:
    """``stretch`` without the white space and commas around it."""
    content = text[stretch.start : stretch.end]
    start = stretch.start + len(content) - len(content.lstrip(" \t\n,;|"))
    return Span(start, start + len(content.strip(" \t\n,;|")))


def _adjacent(markers: Sequence[Marker]) -> list[list[Marker]]:
    groups: list[list[Marker]] = []
    for marker in markers:
        if groups and groups[-1][-1].end == marker.start:
            groups[-1].append(marker)
        else:
            groups.append([marker])
    return groups


def _numbers(markers: Sequence[Marker]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(marker.number for marker in markers))


_RULE_BELOW = re.compile(r"[ \t|]*+\n[ \t]*+(?:\|?[ \t]*+:?-{2,}|={2,})")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_\n]+\1:?")


def _is_heading(text: str, span: Span, plain: str) -> bool:
    return (
        text.startswith("#", span.start)
        or plain.endswith((":", "："))
        or bool(_BOLD_LINE.fullmatch(plain) or _RULE_BELOW.match(text, span.end))
    )


def _inherit_from_lead_ins(text: str, claims: Sequence[Claim]) -> list[Claim]:
    result: list[Claim] = []
    lead_in: Claim | None = None
    for claim in claims:
        if claim.text.endswith((":", "：")):
            lead_in = claim
        elif lead_in and not is_list_item(text, claim):
            lead_in = None
        elif lead_in and lead_in.parts and not claim.parts:
            if result[-1] is lead_in:
                result[-1] = replace(lead_in, parts=(), is_claim=False)  # its citations stand for the items
            claim = replace(
                claim, parts=(CitedPart(claim.text, lead_in.numbers, claim.start, claim.end),), is_claim=True
            )
        result.append(claim)
    return result


def is_list_item(text: str, claim: Claim) -> bool:
    """Whether a bullet or a number stands before ``claim`` in ``text``."""
    return _BULLET.match(text, text.rfind("\n", 0, claim.start) + 1, claim.start) is not None
