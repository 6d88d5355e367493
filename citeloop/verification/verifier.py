"""The whole check of a draft: parse, claims, support, citations, confidence, and what the claim policy makes of it."""

from collections.abc import Iterable, Sequence
from typing import Self

from citeloop.models.claim_judges import ClaimJudge
from citeloop.models.embedder import Embedder
from citeloop.models.evidence import EvidenceJudge, EvidencePassage
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER
from citeloop.state.config import RAGConfig, held_to
from citeloop.state.graph_state import Passage, Verdict
from citeloop.state.models import AnswerClaim
from citeloop.verification.answer_text.citations import ParsedAnswer, parse_citations, strip_source_list
from citeloop.verification.answer_text.claims import Claim, split_claims, without_markers
from citeloop.verification.checked_answer import CheckedAnswer, says_refusal, unchecked_verdict
from citeloop.verification.claim_check import CheckedClaim, check_claims, known_labels, passage_context
from citeloop.verification.claim_removal import without_unsupported
from citeloop.verification.claim_verdicts import citations_needed, claims_by_sentence
from citeloop.verification.confidence import claim_support, response_confidence
from citeloop.verification.conflict_notes import note_conflicts, without_notes
from citeloop.verification.evidence.judged import JudgedScorer, RememberingScorer
from citeloop.verification.evidence.support import ClaimScorer, SupportScorer
from citeloop.verification.evidence.word_scorer import WordScorer
from citeloop.verification.refusal import refusal_verdict

_SAYS_SO = "the draft says that the passages do not answer the question"
_SAYS_NOTHING = "the draft holds no answer"
_NOTHING_LEFT = "no claim of the draft is supported"
_STRICT_PASSES = 5
"""Checks of what is left of a draft; one that needs as many is refused."""


class Verifier:
    """Checks drafts against the passages they cite. Blocking; thread-safe."""

    _least = RAGConfig(claim_policy="off")

    def __init__(
        self,
        embedder: Embedder,
        judge: EvidenceJudge,
        least: RAGConfig | None = None,
        claim_judge: ClaimJudge | None = None,
    ) -> None:
        """``embedder`` should remember vectors; ``judge`` says whether an answer answers the question;
        the claim policy of ``least`` holds for every draft, whatever its settings ask for (see ``held_to``).
        ``claim_judge`` judges the claims of whole drafts, not those of sentences that are still being written."""
        self._quick: ClaimScorer = SupportScorer(embedder)
        self._scorer: ClaimScorer = JudgedScorer(self._quick, claim_judge) if claim_judge else self._quick
        self._judge: EvidenceJudge | None = judge
        self._least = least or self._least

    @classmethod
    def by_words(cls) -> Self:
        """One that needs no embedding model: support is the share of a claim's words that its sources hold, and no one
        says whether the answer answers the question. Quick, and not calibrated."""
        verifier = cls.__new__(cls)
        verifier._quick, verifier._judge = WordScorer(), None
        verifier._scorer = verifier._quick
        return verifier

    def verify(self, question: str, draft: str, passages: Sequence[Passage], settings: RAGConfig) -> Verdict:
        """The verdict on ``draft``, whose numbers point into ``passages``.

        Conflicts between its sources and other passages are told at the end of its answer.

        Under ``claim_policy`` strict it is on what is left of it: see its ``removed``, and its invalid citations, which
        are those of the draft as it was written.
        """
        settings = held_to(settings, self._least)
        policy = settings.claim_policy
        answer = parse_citations(strip_source_list(without_notes(draft)), known_labels(passages))
        sentences = split_claims(answer)
        if refusal := _as_refusal(answer, sentences):
            return Verdict(**{**refusal, "unchecked": True}) if policy == "off" else refusal
        if policy == "off":
            return unchecked_verdict(answer, sentences, passages)
        scorer = RememberingScorer(self._scorer)
        checked = self._check(answer, sentences, passages, settings, scorer)
        verdict = self._weigh(question, checked, settings)
        if policy == "strict":
            verdict = self._strict(question, checked, verdict, passages, settings, scorer)
        return note_conflicts(verdict, passages, settings.similarity_threshold)

    def _check(
        self,
        answer: ParsedAnswer,
        sentences: Sequence[Claim],
        passages: Sequence[Passage],
        settings: RAGConfig,
        scorer: ClaimScorer,
    ) -> CheckedAnswer:
        return CheckedAnswer(answer, sentences, self._check_claims(sentences, passages, settings, scorer))

    def check_sentences(
        self, sentences: Sequence[Claim], passages: Sequence[Passage], settings: RAGConfig
    ) -> list[AnswerClaim]:
        """The verdicts on some sentences of a draft that is still being written."""
        settings = held_to(settings, self._least)
        checked = self._check_claims(sentences, passages, settings, self._quick)
        return [claim for row in claims_by_sentence(sentences, checked, settings) for claim in row]

    def _check_claims(
        self, sentences: Sequence[Claim], passages: Sequence[Passage], settings: RAGConfig, scorer: ClaimScorer
    ) -> list[CheckedClaim]:
        return check_claims(
            [sentence for sentence in sentences if sentence.is_claim],
            passages,
            scorer,
            threshold=settings.similarity_threshold,
            require_citations=settings.require_citations,
        )

    def _weigh(self, question: str, checked: CheckedAnswer, settings: RAGConfig) -> Verdict:
        return checked.verdict(self._confidence(question, checked.checked, settings), settings)

    def _strict(
        self,
        question: str,
        drafted: CheckedAnswer,
        verdict: Verdict,
        passages: Sequence[Passage],
        settings: RAGConfig,
        scorer: ClaimScorer,
    ) -> Verdict:
        """The verdict on what is left when all is taken out that is not supported.

        What is left is checked as it stands, until all of it is supported.
        """
        left, removed, passes = drafted, list[AnswerClaim](), 0
        while passes < _STRICT_PASSES and (removal := without_unsupported(left, settings)).claims:
            removed += removal.claims
            answer = parse_citations(removal.text, known_labels(passages))
            left = self._check(answer, split_claims(answer), passages, settings, scorer)
            passes += 1
        kept = verdict if left is drafted else self._weigh(question, left, settings)
        if passes == _STRICT_PASSES or not any(claim["verdict"] == "supported" for claim in kept["claims"]):
            kept = refusal_verdict(INDEX_HAS_NO_ANSWER, _NOTHING_LEFT)
        return Verdict(
            **{
                **kept,
                "removed": [claim.model_dump(mode="json") for claim in removed],
                "invalid_chunk_ids": verdict["invalid_chunk_ids"],
                "invalid_share": verdict["invalid_share"],
                "support_methods": verdict.get("support_methods", {}),
                "note": "; ".join(filter(None, (_told(removed), kept["note"]))),
            }
        )

    def _confidence(self, question: str, checked: Sequence[CheckedClaim], settings: RAGConfig) -> float:
        if not checked:
            return 0.0
        supports = [_support_of(claim, citations_needed(settings)) for claim in checked]
        relevance = self._judge.answer_relevance(question, _as_evidence(checked)) if self._judge else 1.0
        return response_confidence(supports, relevance)


def _as_refusal(answer: ParsedAnswer, sentences: Sequence[Claim]) -> Verdict | None:
    """The verdict on a draft that refuses, or that holds nothing but markers or a list of sources; None of others."""
    text = without_markers(answer)
    if not text.strip():
        return refusal_verdict(INDEX_HAS_NO_ANSWER, _SAYS_NOTHING)
    return refusal_verdict(text, _SAYS_SO) if says_refusal(sentences) else None


def _told(removed: Sequence[AnswerClaim]) -> str:
    return f"taken out, as not supported or without what they hung on: {len(removed)} sentences" if removed else ""


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
