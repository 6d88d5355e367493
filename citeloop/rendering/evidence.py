"""What stands behind each claim: its verdict, and the sentence of each source within its passage."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from citeloop.rendering.places import place_of, safe_link
from citeloop.rendering.verdicts import VerdictWords, verdict_sentence, words_for
from citeloop.state.models import AnswerClaim, Citation, RAGResponse

_BEFORE, _AFTER = 200, 400
"""Characters of the passage that are shown around the sentence: it is to be seen without scrolling."""
_SOFT_BREAK = re.compile(r"(?<=[^\n]{50})\n(?=\w)")
"""A long line was broken where the page was full, not where the author meant it."""


class Quotation(NamedTuple):
    """The sentence that supports a claim best, with what stands around it in the passage."""

    before: str
    sentence: str
    after: str


class CitedSource(NamedTuple):
    """One source of a claim."""

    number: int
    label: str
    place: str
    uri: str
    link: str
    """The address where it is safe to follow, else empty."""
    support: float
    quotation: Quotation


class ClaimEvidence(NamedTuple):
    """A claim of the answer with all that a reader needs to judge it."""

    ordinal: int
    claim: AnswerClaim
    verdict: VerdictWords
    told: str
    sources: list[CitedSource]


def claim_evidence(
    response: RAGResponse, claims: Sequence[AnswerClaim], passages: Mapping[str, str]
) -> list[ClaimEvidence]:
    """The evidence of each of ``claims``; ``passages`` are the texts of the sources by chunk id, as far as known."""
    starts = {source.chunk_id: source.start for source in response.sources}
    return [
        ClaimEvidence(
            ordinal,
            claim,
            words_for(claim),
            verdict_sentence(claim),
            [_cited(c, passages.get(c.source_chunk_id, ""), starts) for c in _citations_of(claim, response.citations)],
        )
        for ordinal, claim in enumerate(claims, start=1)
    ]


def quote_in_passage(citation: Citation, passage: str, passage_start: int) -> Quotation:
    """The cited sentence within ``passage``: at its offsets, else wherever it stands there now, else by itself."""
    sentence = citation.source_text
    at = citation.source_start - passage_start
    if at < 0 or passage[at : at + len(sentence)] != sentence:
        at = passage.find(sentence)
    if at < 0:
        return Quotation("", sentence, "")
    shown, end = _SOFT_BREAK.sub(" ", passage), at + len(sentence)
    return Quotation(_last_words(shown[:at]), shown[at:end], _first_words(shown[end:]))


def _citations_of(claim: AnswerClaim, citations: Sequence[Citation]) -> list[Citation]:
    """One for each source that it cites: those of the sentence that it is, or is a part of."""
    start, end = claim.span_in_response
    own: dict[int, Citation] = {}
    for citation in citations:
        first, last = citation.span_in_response
        if citation.citation_id in claim.citation_ids and first < end and start < last:
            own.setdefault(citation.citation_id, citation)
    return list(own.values())


def _cited(citation: Citation, passage: str, starts: Mapping[str, int]) -> CitedSource:
    return CitedSource(
        number=citation.citation_id,
        label=citation.label or str(citation.citation_id),
        place=place_of(citation),
        uri=citation.uri,
        link=safe_link(citation.uri),
        support=citation.confidence,
        quotation=quote_in_passage(citation, passage, starts.get(citation.source_chunk_id, 0)),
    )


def _last_words(text: str) -> str:
    return text if len(text) <= _BEFORE else "… " + text[-_BEFORE:].partition(" ")[2]


def _first_words(text: str) -> str:
    return text if len(text) <= _AFTER else text[:_AFTER].rpartition(" ")[0] + " …"
