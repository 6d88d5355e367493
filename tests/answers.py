"""Responses made by hand, for the tests of what people read."""

from collections.abc import Sequence
from typing import NamedTuple

from citeloop.state.models import AnswerClaim, Citation, ClaimVerdict, RAGResponse, SourceReference

BEFORE, AFTER = "Leave is a matter of trust. ", " It is entered in the calendar."
"""What stands around each cited sentence in its passage."""


class Said(NamedTuple):
    """A claim of an answer, and the sentence of its source (empty: it cites none)."""

    claim: str
    verdict: ClaimVerdict = "supported"
    source: str = ""
    reason: str = ""
    missing: tuple[str, ...] = ()


LEAVE = (
    Said("Parental leave lasts 16 weeks.", "supported", "Parental leave lasts 16 weeks at full pay."),
    Said("It is asked for by letter.", "partly", "It is asked for.", "the source names no letter"),
    Said("Hotels cost at most 150 euros.", "contradicted", "The limit is 140 euros a night.", "", ("150",)),
    Said("Everyone likes it.", "unsupported"),
)


def response_of(said: Sequence[Said] = LEAVE, **others: object) -> RAGResponse:
    """A response that says ``said``, one source a claim, numbered as the claims are."""
    answer, claims, citations, sources = "", [], [], []
    for number, one in enumerate(said, start=1):
        span = (len(answer), len(answer) + len(one.claim))
        answer += f"{one.claim} [{number}] " if one.source else f"{one.claim} "
        claims.append(_claim(number, one, span))
        if one.source:
            citations.append(_citation(number, one, span))
            sources.append(_source(number, one))
    filled = {"question": "How long is parental leave?", "status": "answered", "confidence": 0.91, **others}
    values = {"answer": answer.strip(), "claims": claims, "citations": citations, "sources": sources, **filled}
    return RAGResponse.model_validate(values)


def passages_of(said: Sequence[Said] = LEAVE) -> dict[str, str]:
    """The passages of its sources, by chunk id."""
    return {f"chunk-{number}": f"{BEFORE}{one.source}{AFTER}" for number, one in enumerate(said, start=1) if one.source}


def _claim(number: int, one: Said, span: tuple[int, int]) -> AnswerClaim:
    return AnswerClaim(
        text=one.claim,
        span_in_response=span,
        verdict=one.verdict,
        support=0.93 if one.verdict == "supported" else 0.2,
        citation_ids=(number,) if one.source else (),
        reason=one.reason,
        missing=one.missing,
    )


def _citation(number: int, one: Said, span: tuple[int, int]) -> Citation:
    return Citation(
        citation_id=number,
        claim_text=one.claim,
        source_chunk_id=f"chunk-{number}",
        source_text=one.source,
        confidence=0.93 if one.verdict == "supported" else 0.2,
        span_in_response=span,
        document_title=f"Handbook {number}",
        heading_path=("People", "Leave"),
        uri=f"https://handbook.example/{number}",
        source_start=500 + len(BEFORE),
        source_end=500 + len(BEFORE) + len(one.source),
    )


def _source(number: int, one: Said) -> SourceReference:
    return SourceReference(
        number=number,
        chunk_id=f"chunk-{number}",
        corpus="handbook",
        document_id="d",
        title=f"Handbook {number}",
        uri=f"https://handbook.example/{number}",
        start=500,
        end=500 + len(BEFORE) + len(one.source) + len(AFTER),
        score=0.5,
    )
