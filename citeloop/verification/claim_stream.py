"""The claims of an answer that arrives in pieces, as a model writes it."""

import re
from collections.abc import Mapping
from dataclasses import replace

from citeloop.verification.citation_stream import CitationStream
from citeloop.verification.citations import ParsedAnswer, find_source_list
from citeloop.verification.claims import Claim, is_list_item, split_claims

_MAY_END_SENTENCE = re.compile(r"[.!?:。！？．…؟।॥]|\n")

_BLANK_LINE = re.compile(r"\n[ \t]*+\n")


class ClaimStream:
    """``split_claims`` for text in pieces: each sentence as soon as the next one has begun."""

    def __init__(self, known: Mapping[str, int]) -> None:
        """``known`` as in ``parse_citations``."""
        self._citations = CitationStream(known)
        self._text = ""
        """The normalised answer from the paragraph on that is being read."""
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
        self._text += settled
        ended, self._ended = self._ended, bool(_MAY_END_SENTENCE.search(settled)) or (self._ended and not settled)
        return self._read(last=False) if settled and (ended or self._ended) else []

    def close(self) -> list[Claim]:
        """The rest: nothing follows."""
        self._text += self._citations.close()
        return self._read(last=True)

    def _read(self, *, last: bool) -> list[Claim]:
        sentences = self._split()
        certain = len(sentences) if last else len(sentences) - 1  # how the last one goes on can change it
        new = [_moved(claim, self._start) for claim in sentences[self._told : certain]]
        self._told = max(self._told, certain)
        self._forget(sentences)
        return new

    def _split(self) -> list[Claim]:
        """The sentences of ``_text``; a list of sources at its end is none."""
        end = find_source_list(self._text)
        markers = tuple(
            replace(marker, start=marker.start - self._start, end=marker.end - self._start)
            for marker in self._citations.markers[self._first_marker :]
            if marker.end - self._start <= end
        )
        return split_claims(ParsedAnswer(self._text[:end], markers, ()))

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


def _moved(claim: Claim, by: int) -> Claim:
    parts = tuple(replace(part, start=part.start + by, end=part.end + by) for part in claim.parts)
    return replace(claim, start=claim.start + by, end=claim.end + by, parts=parts)
