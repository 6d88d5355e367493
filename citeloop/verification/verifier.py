"""The whole check of a draft: parse, claims, support, citations, confidence."""

from collections.abc import Iterable, Sequence
from typing import Self

from citeloop.models.embedder import Embedder
from citeloop.models.evidence import EvidenceJudge, EvidencePassage
from citeloop.prompts.refusals import is_refusal
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage, Verdict
from citeloop.state.models import Citation
from citeloop.verification.abstention import abstains
from citeloop.verification.citations import ParsedAnswer, parse_citations, strip_source_list
from citeloop.verification.claim_check import CheckedCitation, CheckedClaim, check_claims, known_labels, passage_context
from citeloop.verification.claim_verdicts import answer_claims, citations_needed
from citeloop.verification.claims import Claim, split_claims, without_markers
from citeloop.verification.confidence import claim_support, invalid_share, response_confidence
from citeloop.verification.refusal import refusal_verdict
from citeloop.verification.support import ClaimScorer, SupportScorer
from citeloop.verification.word_scorer import WordScorer


class Verifier:
    """Checks drafts against the passages they cite. Blocking; thread-safe."""

    def __init__(self, embedder: Embedder, judge: EvidenceJudge) -> None:
        """``embedder`` should remember vectors; ``judge`` says whether an answer answers the question."""
        self._scorer: ClaimScorer = SupportScorer(embedder)
        self._judge: EvidenceJudge | None = judge

    @classmethod
    def by_words(cls) -> Self:
        """One that needs no embedding model: support is the share of a claim's words that its sources hold, and no one
        says whether the answer answers the question. Quick, and not calibrated."""
        verifier = cls.__new__(cls)
        verifier._scorer, verifier._judge = WordScorer(), None
        return verifier

    def verify(self, question: str, draft: str, passages: Sequence[Passage], settings: RAGConfig) -> Verdict:
        """The verdict on ``draft``, whose numbers point into ``passages``."""
        answer = parse_citations(strip_source_list(draft), known_labels(passages))
        sentences = split_claims(answer)
        if _is_refusal(answer, sentences):
            refusal = without_markers(answer)
            return refusal_verdict(refusal, "the draft says that the passages do not answer the question")
        checked = check_claims(
            [sentence for sentence in sentences if sentence.is_claim],
            passages,
            self._scorer,
            threshold=settings.similarity_threshold,
            require_citations=settings.require_citations,
        )
        verdict = _verdict(answer, checked, self._confidence(question, checked, settings), settings)
        claims = answer_claims(sentences, checked, settings)
        return Verdict(**{**verdict, "claims": [claim.model_dump(mode="json") for claim in claims]})

    def _confidence(self, question: str, checked: Sequence[CheckedClaim], settings: RAGConfig) -> float:
        if not checked:
            return 0.0
        supports = [_support_of(claim, citations_needed(settings)) for claim in checked]
        relevance = self._judge.answer_relevance(question, _as_evidence(checked)) if self._judge else 1.0
        return response_confidence(supports, relevance)


def _support_of(claim: CheckedClaim, needed: int) -> float:
    """Of a claim whose every part needs its citations."""
    scores = ([citation.support.score for citation in part.citations] for part in claim.parts)
    return min(claim_support(claim.together, part, needed) for part in scores)


def _as_evidence(checked: Iterable[CheckedClaim]) -> list[EvidencePassage]:
    """What the answer says, grouped by the first source of each claim, in order of retrieval."""
    said: dict[tuple[int, str], list[str]] = {}
    for claim in checked:
        first = claim.citations[0].passage if claim.citations else None
        key = (first["number"], passage_context(first)) if first else (0, "")
        said.setdefault(key, []).append(claim.claim.text)
    return [EvidencePassage(context, tuple(sentences)) for (_, context), sentences in sorted(said.items())]


def _is_refusal(answer: ParsedAnswer, sentences: Sequence[Claim]) -> bool:
    """The refusal, cited or not, or nothing but sentences that say what was not found."""
    if is_refusal(" ".join(sentence.text for sentence in sentences)):
        return True
    claims = [sentence for sentence in sentences if sentence.is_claim]
    return any(abstains(sentence.text) for sentence in sentences) and all(abstains(claim.text) for claim in claims)


def _verdict(answer: ParsedAnswer, checked: Sequence[CheckedClaim], confidence: float, settings: RAGConfig) -> Verdict:
    citations = [citation for claim in checked for citation in claim.citations]
    threshold = settings.similarity_threshold
    share = invalid_share([citation.support.score for citation in citations], len(answer.unknown), threshold)
    return Verdict(
        answer=answer.text,
        refused=False,
        citations=[_citation(claim.claim, c).model_dump(mode="json") for claim in checked for c in claim.citations],
        invalid_chunk_ids=_invalid_chunk_ids(citations, threshold),
        invalid_share=share,
        confidence=confidence,
        passed=share <= settings.max_invalid_citations and confidence >= settings.confidence_threshold,
        note=_note(checked, share, confidence, settings),
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
