"""One question's outcome, as numbers."""

from collections.abc import Iterable
from dataclasses import dataclass

from citeloop.evaluation.answers import count_words, holds_answer
from citeloop.evaluation.asking import Outcome
from citeloop.evaluation.ranking import (
    distinct_documents,
    ndcg_at,
    ranked_documents,
    recall_at,
    reciprocal_rank_at,
)
from citeloop.evaluation.sets import Question
from citeloop.state.config import RAGConfig
from citeloop.state.models import Citation, RAGResponse
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.answer_text.claims import split_claims

RECALL_DEPTHS = (1, 2, 5, 10)
DEPTH = 10


@dataclass(frozen=True, slots=True)
class RetrievalScore:
    """How well the gold documents were found; for questions that have some."""

    recall: tuple[float, ...]
    """At ``RECALL_DEPTHS``."""
    ndcg: float
    reciprocal_rank: float
    in_context: bool
    """Whether a gold document stood before the generator."""


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """What the answer is worth; for questions that got one."""

    hit: bool
    """A gold string stands in the answer."""
    hit_in_first_citation: bool
    words: int
    cited_documents: int
    cited_gold: int
    claims: int
    covered_claims: int


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """A question that raised scores as one for which nothing was found and nothing was said."""

    question: Question
    response: RAGResponse | None
    latency_ms: float | None
    refused: bool
    retrieval: RetrievalScore | None
    answer: AnswerScore | None


def score_outcome(outcome: Outcome, config: RAGConfig) -> QuestionScore:
    """Score one outcome of a run under ``config``; a citation is valid from ``similarity_threshold`` on."""
    response = outcome.response
    refused = response is not None and response.status == "no_evidence"
    answered = response if response and not refused else None
    return QuestionScore(
        question=outcome.question,
        response=response,
        latency_ms=outcome.latency_ms if response else None,
        refused=refused,
        retrieval=_score_retrieval(outcome.question, response, config) if outcome.question.gold_doc_ids else None,
        answer=_score_answer(outcome.question, answered, config.similarity_threshold) if answered else None,
    )


def _score_retrieval(question: Question, response: RAGResponse | None, config: RAGConfig) -> RetrievalScore:
    ranked = ranked_documents(response) if response else []
    context = _context_documents(response, config) if response else []
    gold = question.gold_doc_ids
    return RetrievalScore(
        recall=tuple(recall_at(k, ranked, gold) for k in RECALL_DEPTHS),
        ndcg=ndcg_at(DEPTH, ranked, gold),
        reciprocal_rank=reciprocal_rank_at(DEPTH, ranked, gold),
        in_context=not set(gold).isdisjoint(context),
    )


def _context_documents(response: RAGResponse, config: RAGConfig) -> list[str]:
    """The documents before the generator. A refusal carries no sources: the best ranked stand for its context, one for
    each passage that it would have got."""
    if response.status == "no_evidence":
        return ranked_documents(response, config.passages_wanted(response.strategy_used))
    return distinct_documents(chunk.uri for chunk in response.context_used.chunks)


def _score_answer(question: Question, response: RAGResponse, support_threshold: float) -> AnswerScore:
    first = min(response.citations, key=lambda citation: citation.span_in_response, default=None)
    cited = distinct_documents(citation.uri for citation in response.citations)
    valid = [citation for citation in response.citations if citation.confidence >= support_threshold]
    claims = _claim_spans(response)
    return AnswerScore(
        hit=holds_answer(response.answer, question.answers),
        hit_in_first_citation=first is not None and holds_answer(first.source_text, question.answers),
        words=count_words(response.answer),
        cited_documents=len(cited),
        cited_gold=len(set(cited) & set(question.gold_doc_ids)),
        claims=len(claims),
        covered_claims=sum(_is_covered(span, valid) for span in claims),
    )


def _claim_spans(response: RAGResponse) -> list[tuple[int, int]]:
    parsed = parse_citations(response.answer, {str(source.number): source.number for source in response.sources})
    return [(claim.start, claim.end) for claim in split_claims(parsed) if claim.is_claim]


def _is_covered(span: tuple[int, int], citations: Iterable[Citation]) -> bool:
    start, end = span
    return any(citation.span_in_response[0] < end and start < citation.span_in_response[1] for citation in citations)
