"""What a reader is told of verdicts and of a status: in words and by a sign, never by a colour alone."""

from collections.abc import Mapping
from typing import NamedTuple

from citeloop.state.models import SUPPORTED_FROM, AnswerClaim, AnswerStatus, Citation, ClaimVerdict, RAGResponse


class VerdictWords(NamedTuple):
    """One verdict in words."""

    label: str
    sign: str
    told: str
    """What it says of the claim, where the label does not say it all."""


VERDICTS: Mapping[ClaimVerdict, VerdictWords] = {
    "supported": VerdictWords("Supported", "✓", ""),
    "partly": VerdictWords("Partly supported", "◐", "What it cites says only a part of it."),
    "unsupported": VerdictWords("Not supported", "?", "What it cites does not say it."),
    "contradicted": VerdictWords("Contradicted", "✗", "What it cites says otherwise."),
    "not_a_claim": VerdictWords("No claim", "", "It asserts nothing that could be checked."),
}


class StatusWords(NamedTuple):
    """One status in words."""

    label: str
    told: str = ""
    """What a reader has to know before relying on the answer; empty: nothing."""


STATUSES: Mapping[AnswerStatus, StatusWords] = {
    "answered": StatusWords("Answered"),
    "low_confidence": StatusWords("Low confidence", "Not every check passed: read the sources before you rely on it."),
    "no_evidence": StatusWords("No evidence", "What was searched does not answer the question."),
    "rejected": StatusWords("Withheld", "The person who reviewed this answer rejected it."),
    "unchecked": StatusWords("Not checked", "No claim of it was checked: read the sources before you rely on it."),
    "small_talk": StatusWords("Small talk", "A fixed reply: nothing was searched for."),
}
UNCITED = VERDICTS["unsupported"]._replace(told="It cites no source.")


def words_for(claim: AnswerClaim) -> VerdictWords:
    """The verdict of ``claim`` in words."""
    return UNCITED if claim.verdict == "unsupported" and not claim.citation_ids else VERDICTS[claim.verdict]


def verdict_sentence(claim: AnswerClaim) -> str:
    """Why the verdict: the reason that the check gave, else what goes with the verdict and what was missing."""
    if reason := claim.reason.rstrip("."):
        return f"{reason[:1].upper()}{reason[1:]}."
    missing = f"Not in its sources: {', '.join(claim.missing)}." if claim.missing else ""
    return " ".join(filter(None, (words_for(claim).told, missing)))


def checked_claims(response: RAGResponse) -> list[AnswerClaim]:
    """What the answer claims, in order, none within another; what asserts nothing is left out.

    Of a response that tells no claims (one kept from an earlier version, say), those that its citations stand for.
    """
    claims = response.claims or tuple(_claims_of(response.citations))
    checked: list[AnswerClaim] = []
    for claim in sorted(claims, key=lambda claim: claim.span_in_response):
        starts_free = not checked or checked[-1].span_in_response[1] <= claim.span_in_response[0]
        if claim.verdict != "not_a_claim" and starts_free:
            checked.append(claim)
    return checked


def failing_claims(response: RAGResponse) -> list[AnswerClaim]:
    """The claims that a reader should not rely on."""
    return [claim for claim in checked_claims(response) if claim.verdict != "supported"]


def _claims_of(citations: tuple[Citation, ...]) -> list[AnswerClaim]:
    by_span: dict[tuple[int, int], list[Citation]] = {}
    for citation in citations:
        by_span.setdefault(citation.span_in_response, []).append(citation)
    return [_claim_of(cited) for cited in by_span.values()]


def _claim_of(cited: list[Citation]) -> AnswerClaim:
    support = max(citation.confidence for citation in cited)
    return AnswerClaim(
        text=cited[0].claim_text,
        span_in_response=cited[0].span_in_response,
        verdict="supported" if support >= SUPPORTED_FROM else "unsupported",
        support=support,
        citation_ids=tuple(dict.fromkeys(citation.citation_id for citation in cited)),
    )
