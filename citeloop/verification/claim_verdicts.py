"""What is told of each claim of an answer: its verdict, and why, in words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from citeloop.state.config import RAGConfig
from citeloop.state.models import AnswerClaim, ClaimVerdict
from citeloop.verification.answer_text.claims import Claim
from citeloop.verification.claim_check import CheckedCitation, CheckedClaim, CheckedPart

_PARTLY_FROM = 0.5
"""Share of the threshold from which sources are taken to say some of a claim."""


def claims_by_sentence(
    sentences: Sequence[Claim], checked: Sequence[CheckedClaim], settings: RAGConfig
) -> Iterator[list[AnswerClaim]]:
    """Every sentence of an answer with its verdict; one that several groups of citations stand in, clause by clause.

    ``checked`` are those of ``sentences`` that are claims, in the same order.
    """
    verdicts = iter(checked)
    for sentence in sentences:
        if sentence.is_claim:
            yield [_told(part, settings) for part in next(verdicts).parts]
        else:
            yield [_no_claim(sentence)]


def told_in_short(claim: Mapping[str, Any]) -> dict[str, Any]:
    """An ``AnswerClaim`` as JSON, for a trace: what it says, what became of it, and why."""
    return {key: claim[key] for key in ("text", "verdict", "reason")}


def citations_needed(settings: RAGConfig) -> int:
    """Valid citations without which a claim is not supported."""
    return settings.min_citations_per_claim if settings.require_citations else 0


def _no_claim(sentence: Claim) -> AnswerClaim:
    return AnswerClaim(
        text=sentence.text,
        span_in_response=(sentence.start, sentence.end),
        verdict="not_a_claim",
        support=0.0,
        reason="it asserts nothing that could be checked",
    )


def _told(part: CheckedPart, settings: RAGConfig) -> AnswerClaim:
    verdict, reason = _judge(part, settings)
    return AnswerClaim(
        text=part.text,
        span_in_response=(part.start, part.end),
        verdict=verdict,
        support=part.support.score,
        citation_ids=tuple(citation.passage["number"] for citation in part.citations),
        reason=reason,
        missing=() if verdict == "supported" else part.support.missing,
    )


def _judge(part: CheckedPart, settings: RAGConfig) -> tuple[ClaimVerdict, str]:
    threshold, needed = settings.similarity_threshold, citations_needed(settings)
    valid = [citation for citation in part.citations if citation.support.score >= threshold]
    if not part.citations and settings.require_citations:
        return "unsupported", "it cites none of the sources"
    if part.support.score >= threshold:
        if len(valid) < needed:
            return "partly", f"{len(valid)} of the {needed} citations that it needs hold"
        return "supported", _why_supported(valid)
    sources = _named(part.citations) if part.citations else "the passages"
    if part.support.conflict:
        return "contradicted", f"{sources}: {part.support.conflict}"
    missing = f"; not found there: {', '.join(part.support.missing)}" if part.support.missing else ""
    if part.support.score >= _PARTLY_FROM * threshold:
        return "partly", f"only some of it can be read in {sources}{missing}"
    return "unsupported", f"it cannot be read in {sources}{missing}"


def _why_supported(valid: Sequence[CheckedCitation]) -> str:
    if not valid:
        return "it can be read in the passages, though it cites none"
    quoted = [citation for citation in valid if citation.support.method == "quote"]
    if quoted:
        return f"it stands word for word in {_named(quoted)}"
    return f"it can be read in {_named(valid)}"


def _named(citations: Sequence[CheckedCitation]) -> str:
    """The sources as the answer cites them."""
    names = [f"[{citation.passage.get('label') or citation.passage['number']}]" for citation in citations]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
