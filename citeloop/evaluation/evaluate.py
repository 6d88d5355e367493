"""Measuring what a set holds: questions through an engine, claims through the scorer, intents through the analyzer."""

import time
from collections.abc import Callable, Sequence

from citeloop.evaluation.asking import AnsweringEngine, Task, ask_questions
from citeloop.evaluation.claims import ScoreClaim, measure_support, score_claims
from citeloop.evaluation.intents import Analyzer, confusion_table, measure_accuracy, predict_labels, scheme_for
from citeloop.evaluation.question_metrics import count_statuses, measure, measure_by_type
from citeloop.evaluation.report import ClaimReport, Failure, IntentReport, QuestionReport
from citeloop.evaluation.scoring import QuestionScore, score_outcome
from citeloop.evaluation.sets import LabelledClaim, LabelledIntent
from citeloop.state.config import RAGConfig


async def evaluate_questions(
    engine: AnsweringEngine,
    tasks: Sequence[Task],
    config: RAGConfig,
    concurrency: int = 1,
    on_done: Callable[[], None] = lambda: None,
) -> tuple[QuestionReport, list[QuestionScore]]:
    """Ask ``tasks`` and measure what comes back; the scores of the single questions are in the order of ``tasks``."""
    started = time.perf_counter()
    outcomes = await ask_questions(engine, tasks, config, concurrency, on_done)
    seconds = time.perf_counter() - started
    scores = [score_outcome(outcome, config) for outcome in outcomes]
    report = QuestionReport(
        measured=len(scores),
        metrics=measure(scores),
        by_type=measure_by_type(scores),
        statuses=count_statuses(scores),
        seconds=seconds,
        errors=tuple(
            Failure(qid=outcome.question.qid, question=outcome.question.question, error=outcome.error)
            for outcome in outcomes
            if outcome.error
        ),
    )
    return report, scores


def evaluate_claims(
    claims: Sequence[LabelledClaim], score: ScoreClaim, on_done: Callable[[], None] = lambda: None
) -> ClaimReport:
    """Measure the support score against the labels."""
    return ClaimReport(measured=len(claims), metrics=measure_support(claims, score_claims(claims, score, on_done)))


def evaluate_intents(rows: Sequence[LabelledIntent], analyzer: Analyzer) -> IntentReport:
    """Measure the analyzer against the labels."""
    scheme = scheme_for(rows)
    predicted = predict_labels(rows, analyzer, scheme)
    return IntentReport(
        measured=len(rows),
        scheme=scheme.name,
        metrics=measure_accuracy(rows, predicted) if scheme.comparable else {"accuracy": None},
        confusion=confusion_table(rows, predicted),
    )
