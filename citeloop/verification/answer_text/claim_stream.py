"""The claims of an answer that arrives in pieces, as a model writes it."""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from citeloop.text.sentences import undecided_from
from citeloop.verification.answer_text.citation_stream import CitationStream
from citeloop.verification.answer_text.citations import ParsedAnswer, find_source_list
from citeloop.verification.answer_text.claims import Claim, blank_markers, is_list_item, split_claims

_MAY_END_SENTENCE = re.compile(r"[.!?:。！？．…؟।॥]|\n")

_BLANK_LINE = re.compile(r"\n[ \t]*+\n")

_EAGER = 2_000
"""Characters of the text being read up to which each sentence's end is a reason to read it again."""
_GROWTH = 1.25
"""Beyond them it has to grow by so much first, so that all readings together stay linear in the answer."""


class ClaimStream:
    """``split_claims`` for text in pieces: each sentence as soon as the next one has begun."""

    def __init__(self, known: Mapping[str, int]) -> None:
        """``known`` as in ``parse_citations``."""
        self._citations = CitationStream(known)
        self._text = ""
        """The normalised answer from the paragraph on that is being read, as far as it was looked at."""
        self._unread: list[str] = []
        self._length = 0
        """Characters of both."""
        self._read_at = 0.0
        self._start = 0
        """Where that begins."""
        self._first_marker = 0
        self._told = 0
        """Sentences told of those in ``_text``."""
        self._ended = False
        """Whether a sentence may have ended with the last text."""

    def feed(self, piece: str) -> list[Claim]:
        """The sentences that are certain now, with their places in the normalised answer."""
        settled = self._citations.feed(piece)
        self._add(settled)
        ended, self._ended = self._ended, bool(_MAY_END_SENTENCE.search(settled)) or (self._ended and not settled)
        ended = ended or self._ended
        if not settled or self._length < self._read_at:
            self._ended = ended
            return []
        return self._read(last=False) if ended else []

    def close(self) -> list[Claim]:
        """The rest: nothing follows."""
        self._add(self._citations.close())
        return self._read(last=True)

    def _add(self, settled: str) -> None:
        self._unread.append(settled)
        self._length += len(settled)

    def _read(self, *, last: bool) -> list[Claim]:
        self._text, self._unread = "".join([self._text, *self._unread]), []
        answer = self._answer()
        sentences = split_claims(answer)
        certain = len(sentences) if last else _count_certain(sentences, answer)
        new = [_moved(claim, self._start) for claim in sentences[self._told : certain]]
        self._told = max(self._told, certain)
        self._forget(sentences)
        self._length = len(self._text)
        self._read_at = 0 if self._length <= _EAGER else self._length * _GROWTH
        return new

    def _answer(self) -> ParsedAnswer:
        """``_text`` with its markers; a list of sources at its end is no part of it."""
        end = find_source_list(self._text)
        markers = tuple(
            replace(marker, start=marker.start - self._start, end=marker.end - self._start)
            for marker in self._citations.markers[self._first_marker :]
            if marker.end - self._start <= end
        )
        return ParsedAnswer(self._text[:end], markers, ())

    def _forget(self, sentences: list[Claim]) -> None:
        """Read on from the last paragraph that nothing before has a say in, so that all reading stays linear."""
        for index in range(min(self._told, len(sentences) - 1), 0, -1):
            if self._begins_paragraph(sentences[index - 1], sentences[index]):
                self._told -= index
                self._cut(self._text.rfind("\n", 0, sentences[index].start) + 1)
                return

    def _cut(self, at: int) -> None:
        self._text, self._start = self._text[at:], self._start + at
        markers = self._citations.markers
        while self._first_marker < len(markers) and markers[self._first_marker].start < self._start:
            self._first_marker += 1

    def _begins_paragraph(self, before: Claim, claim: Claim) -> bool:
        return _BLANK_LINE.search(self._text, before.end, claim.start) is not None and not is_list_item(
            self._text, claim
        )


def _count_certain(sentences: Sequence[Claim], answer: ParsedAnswer) -> int:
    """How many of the sentences stay what they are: how the last one goes on can change it."""
    undecided = undecided_from(blank_markers(answer))
    return min(len(sentences) - 1, bisect_right(sentences, undecided, key=lambda claim: claim.end))


def _moved(claim: Claim, by: int) -> Claim:
    parts = tuple(replace(part, start=part.start + by, end=part.end + by) for part in claim.parts)
    return replace(claim, start=claim.start + by, end=claim.end + by, parts=parts)
