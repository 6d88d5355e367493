"""The figures of a set of questions, each as a statistic that can be resampled over the questions."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from citeloop.evaluation.bootstrap import Estimate, Floats, Quantile, Ratio, Statistic, estimate
from citeloop.evaluation.scoring import RECALL_DEPTHS, AnswerScore, QuestionScore, RetrievalScore

BY_TYPE = (
    "recall@5",
    "mrr@10",
    "retrieval_relevance",
    "answered_share",
    "answer_hit",
    "answer_in_first_citation",
    "citation_precision",
    "citation_coverage",
    "p50_ms",
)
"""Figures told again for each question type."""


def measure(scores: Sequence[QuestionScore], names: Collection[str] | None = None) -> dict[str, Estimate | None]:
    """Every figure, or those in ``names``, with its interval; ``None`` where no question bears on it."""
    statistics = question_statistics(scores)
    wanted = {name: statistic for name, statistic in statistics.items() if names is None or name in names}
    return estimate(wanted, len(scores))


def measure_by_type(scores: Sequence[QuestionScore]) -> dict[str, dict[str, Estimate | None]]:
    """The figures of ``BY_TYPE`` for each type of question, in the order of their names."""
    kinds = sorted({score.question.type for score in scores})
    return {kind: measure([score for score in scores if score.question.type == kind], BY_TYPE) for kind in kinds}


def count_statuses(scores: Iterable[QuestionScore]) -> dict[str, int]:
    """How many responses bear each status; questions that raised stand under ``error``."""
    return dict(Counter(score.response.status if score.response else "error" for score in scores))


def question_statistics(scores: Sequence[QuestionScore]) -> dict[str, Statistic]:
    """The statistics of the figures, by name, over the questions in their order."""
    return {**_retrieval(scores), **_answers(scores), **_refusals(scores), **_costs(scores)}


def _retrieval(scores: Sequence[QuestionScore]) -> dict[str, Statistic]:
    def mean(value: Callable[[RetrievalScore], float]) -> Ratio:
        return _ratio(scores, lambda s: value(s.retrieval) if s.retrieval else 0, lambda s: s.retrieval is not None)

    def recall(at: int) -> Callable[[RetrievalScore], float]:
        return lambda retrieval: retrieval.recall[at]

    return {
        **{f"recall@{depth}": mean(recall(at)) for at, depth in enumerate(RECALL_DEPTHS)},
        "ndcg@10": mean(lambda retrieval: retrieval.ndcg),
        "mrr@10": mean(lambda retrieval: retrieval.reciprocal_rank),
        "retrieval_relevance": mean(lambda retrieval: retrieval.in_context),
    }


def _answers(scores: Sequence[QuestionScore]) -> dict[str, Statistic]:
    def total(value: Callable[[AnswerScore], float]) -> Callable[[QuestionScore], float]:
        return lambda score: value(score.answer) if score.answer else 0

    return {
        "answered_share": _ratio(scores, _is_answered, lambda s: True),
        "answered_share_answerable": _ratio(scores, lambda s: _is_answerable(s) and _is_answered(s), _is_answerable),
        "answer_hit": _ratio(scores, lambda s: _has_gold_string(s) and total(lambda a: a.hit)(s), _has_gold_string),
        "answer_in_first_citation": _ratio(
            scores, lambda s: _has_gold_string(s) and total(lambda a: a.hit_in_first_citation)(s), _has_gold_string
        ),
        "answer_words": Quantile(_column(scores, lambda s: s.answer.words if s.answer else None), 0.5),
        "citation_precision": _ratio(
            scores,
            lambda s: _is_answerable(s) and total(lambda a: a.cited_gold)(s),
            lambda s: _is_answerable(s) and total(lambda a: a.cited_documents)(s),
        ),
        "citation_coverage": _ratio(scores, total(lambda a: a.covered_claims), total(lambda a: a.claims)),
    }


def _refusals(scores: Sequence[QuestionScore]) -> dict[str, Statistic]:
    """Refusing is the positive class, over questions that are answerable or unanswerable beyond doubt."""
    if not any(score.question.unanswerable for score in scores):
        return {}

    def refused(score: QuestionScore) -> bool:
        return score.refused and (_is_answerable(score) or score.question.unanswerable)

    def rightly(score: QuestionScore) -> bool:
        return score.refused and score.question.unanswerable

    return {
        "refusal_precision": _ratio(scores, rightly, refused),
        "refusal_recall": _ratio(scores, rightly, lambda s: s.question.unanswerable),
        "refusal_f1": _ratio(scores, lambda s: 2 * rightly(s), lambda s: refused(s) + s.question.unanswerable),
    }


def _costs(scores: Sequence[QuestionScore]) -> dict[str, Statistic]:
    latencies = _column(scores, lambda s: s.latency_ms)
    rounds = _column(scores, lambda s: s.response.correction_rounds if s.response else None)
    return {
        "correction_rounds": Quantile(rounds, 0.5),
        "p50_ms": Quantile(latencies, 0.5),
        "p99_ms": Quantile(latencies, 0.99),
    }


def _is_answerable(score: QuestionScore) -> bool:
    return bool(score.question.gold_doc_ids) and not score.question.unanswerable


def _is_answered(score: QuestionScore) -> bool:
    return score.answer is not None


def _has_gold_string(score: QuestionScore) -> bool:
    return _is_answerable(score) and bool(score.question.answers)


def _ratio(
    scores: Sequence[QuestionScore],
    numerator: Callable[[QuestionScore], float],
    denominator: Callable[[QuestionScore], float],
) -> Ratio:
    return Ratio(_column(scores, numerator), _column(scores, denominator))


def _column(scores: Sequence[QuestionScore], value: Callable[[QuestionScore], float | None]) -> Floats:
    """One number a question, NaN for ``None``."""
    return np.array([value(score) for score in scores], dtype=np.float64)
