"""An answer whose claims were checked, and the verdict that follows."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from citeloop.prompts.refusals import is_refusal
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage, Verdict
from citeloop.state.models import AnswerClaim, Citation
from citeloop.verification.answer_text.abstention import abstains
from citeloop.verification.answer_text.citations import ParsedAnswer
from citeloop.verification.answer_text.claims import Claim
from citeloop.verification.claim_check import CheckedCitation, CheckedClaim
from citeloop.verification.claim_verdicts import claims_by_sentence
from citeloop.verification.confidence import invalid_share
from citeloop.verification.evidence.support import Support


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The sentences of an answer, and those that are claims with their support."""

    answer: ParsedAnswer
    sentences: Sequence[Claim]
    checked: Sequence[CheckedClaim]
    """Of the sentences that are claims, in the same order."""

    def claims(self, settings: RAGConfig) -> Iterator[list[AnswerClaim]]:
        """What is told of each sentence."""
        return claims_by_sentence(self.sentences, self.checked, settings)

    def verdict(self, confidence: float, settings: RAGConfig) -> Verdict:
        """Whether the answer passes by ``settings``, and why not."""
        threshold = settings.similarity_threshold
        citations = [citation for claim in self.checked for citation in claim.citations]
        share = invalid_share([c.support.score for c in citations], len(self.answer.unknown), threshold)
        told = (claim for row in self.claims(settings) for claim in row)
        return Verdict(
            answer=self.answer.text,
            refused=False,
            citations=[
                _citation(c.claim, cited).model_dump(mode="json") for c in self.checked for cited in c.citations
            ],
            invalid_chunk_ids=_invalid_chunk_ids(citations, threshold),
            invalid_share=share,
            confidence=confidence,
            passed=share <= settings.max_invalid_citations and confidence >= settings.confidence_threshold,
            note=_note(self.checked, share, confidence, settings),
            claims=[claim.model_dump(mode="json") for claim in told],
            support_methods=dict(Counter(_method(part.support) for claim in self.checked for part in claim.parts)),
        )


def _method(support: Support) -> str:
    return f"{support.method}, no judge ({support.judge_failure})" if support.judge_failure else support.method


def says_refusal(sentences: Sequence[Claim]) -> bool:
    """The refusal, cited or not, or nothing but sentences that say what was not found."""
    if is_refusal(" ".join(sentence.text for sentence in sentences)):
        return True
    claims = [sentence for sentence in sentences if sentence.is_claim]
    return any(abstains(sentence.text) for sentence in sentences) and all(abstains(claim.text) for claim in claims)


def unchecked_verdict(answer: ParsedAnswer, sentences: Iterable[Claim], passages: Sequence[Passage]) -> Verdict:
    """The answer with its citations as they are: of none of them is known whether it supports anything."""
    by_number = {passage["number"]: passage for passage in passages}
    cited = (
        (sentence, CheckedCitation(by_number[n], Support(0.0))) for sentence in sentences for n in sentence.numbers
    )
    return Verdict(
        answer=answer.text,
        refused=False,
        citations=[_citation(sentence, citation).model_dump(mode="json") for sentence, citation in cited],
        invalid_chunk_ids=[],
        invalid_share=0.0,
        confidence=0.0,
        passed=False,
        note="claim_policy is off: nothing was checked",
        claims=[],
        unchecked=True,
    )


def _invalid_chunk_ids(citations: Iterable[CheckedCitation], threshold: float) -> list[str]:
    """Chunks that support none of the claims they are cited for."""
    best: dict[str, float] = {}
    for citation in citations:
        chunk_id = citation.passage["chunk_id"]
        best[chunk_id] = max(citation.support.score, best.get(chunk_id, 0.0))
    return [chunk_id for chunk_id, support in best.items() if support < threshold]


def _citation(claim: Claim, cited: CheckedCitation) -> Citation:
    passage, span = cited.passage, cited.support.source_span
    start, end = span or (0, len(passage["text"]))
    return Citation(
        citation_id=passage["number"],
        claim_text=claim.text,
        source_chunk_id=passage["chunk_id"],
        source_text=passage["text"][start:end],
        confidence=cited.support.score,
        span_in_response=(claim.start, claim.end),
        document_title=passage["title"],
        uri=passage["uri"],
        heading_path=tuple(passage["heading_path"]),
        source_start=passage["start"] + start,
        source_end=passage["start"] + end,
        label=passage.get("label", ""),
    )


def _note(checked: Sequence[CheckedClaim], share: float, confidence: float, settings: RAGConfig) -> str:
    notes = []
    if not checked:
        notes.append("the draft makes no claim")
    uncited = sum(not claim.citations for claim in checked) if settings.require_citations else 0
    if uncited:
        notes.append(f"{uncited} of {len(checked)} claims cite nothing")
    if share > settings.max_invalid_citations:
        notes.append(f"{share:.0%} of the citations are invalid, over {settings.max_invalid_citations:.0%}")
    if confidence < settings.confidence_threshold:
        notes.append(f"confidence {confidence:.2f} is under {settings.confidence_threshold:.2f}")
    return "; ".join(notes)
