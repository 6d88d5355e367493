"""One run of ``citeloop eval``: the set is read, its corpora are indexed, and what is shipped is measured."""

import asyncio
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from citeloop.engine import RAGQueryEngine, open_engine
from citeloop.errors import StoreError
from citeloop.evaluation.asking import Task
from citeloop.evaluation.claims import ScoreClaim
from citeloop.evaluation.evaluate import evaluate_claims, evaluate_intents, evaluate_questions
from citeloop.evaluation.indexing import ensure_indexed, index_home
from citeloop.evaluation.report import ClaimReport, IntentReport, QuestionReport, Report
from citeloop.evaluation.scoring import QuestionScore
from citeloop.evaluation.selection import Selection, corpora_to_search, select
from citeloop.evaluation.sets import EvaluationSet, LabelledClaim, LabelledIntent, read_set
from citeloop.knowledge.index_report import IndexProgress
from citeloop.models.load import load_embedder
from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.retrieval.analyzer import QueryAnalyzer
from citeloop.settings import Settings
from citeloop.state.config import RAGConfig
from citeloop.state.models import UserContext
from citeloop.verification.evidence.support import SupportScorer

_LIBRARIES = ("citeloop", "chromadb", "langgraph", "numpy", "onnxruntime")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to measure and how."""

    set_dir: Path
    selection: Selection
    config: RAGConfig
    cache: Path
    """Folder in which the indexes of sets are kept."""
    concurrency: int = 1


def run_evaluation(options: RunOptions, settings: Settings, console: Console) -> tuple[Report, list[QuestionScore]]:
    """Measure what the set holds; the second value has the single questions, in their order.

    Progress bars go to ``console``.

    Raises:
        CiteloopError: a bad set or selection, or an index that cannot be made.
    """
    evaluation_set = read_set(options.set_dir)
    chosen = select(evaluation_set, options.selection)
    questions, scores = _run_questions(chosen, options, settings, console)
    report = Report(
        set_name=evaluation_set.name,
        set_sha256=evaluation_set.sha256,
        set_counts=_count_rows(evaluation_set),
        corpora=options.selection.corpora or evaluation_set.corpora,
        own_corpus=options.selection.own_corpus,
        last_turn=options.selection.last_turn,
        where=options.selection.where,
        limit=options.selection.limit,
        concurrency=options.concurrency,
        settings=options.config,
        versions=_versions(settings),
        questions=questions,
        claims=_run_claims(chosen.claims, settings, console),
        intents=_run_intents(chosen.intents, settings),
    )
    return report, scores


def _run_questions(
    evaluation_set: EvaluationSet, options: RunOptions, settings: Settings, console: Console
) -> tuple[QuestionReport | None, list[QuestionScore]]:
    if not evaluation_set.questions:
        return None, []
    searched = corpora_to_search(evaluation_set, options.selection)
    home = index_home(options.cache, evaluation_set, settings.embedding_model)
    engine = open_engine(home, settings=settings, config=options.config)
    tasks = [Task(question, corpora) for question, corpora in zip(evaluation_set.questions, searched, strict=True)]
    with Progress(console=console) as progress:
        _index(engine, home, evaluation_set, dict.fromkeys(name for names in searched for name in names), progress)
        bar = progress.add_task("questions", total=len(tasks))
        return asyncio.run(
            evaluate_questions(engine, tasks, options.config, options.concurrency, lambda: progress.advance(bar))
        )


def _index(
    engine: RAGQueryEngine, home: Path, evaluation_set: EvaluationSet, corpora: Iterable[str], progress: Progress
) -> None:
    def index(file: Path, corpus: str) -> None:
        bar = progress.add_task(f"index {corpus}", total=None)

        def show(at: IndexProgress) -> None:
            progress.update(bar, completed=at.documents, total=at.total)

        report = engine.indexer.index([file], corpus, UserContext(), progress=show)
        if report.skipped:
            raise StoreError(f"{len(report.skipped)} documents of corpus {corpus!r} were skipped: {report.skipped[0]}")

    ensure_indexed(home, evaluation_set, corpora, index)


def _run_claims(claims: Sequence[LabelledClaim], settings: Settings, console: Console) -> ClaimReport | None:
    if not claims:
        return None
    with Progress(console=console) as progress:
        bar = progress.add_task("claims", total=len(claims))
        return evaluate_claims(claims, _claim_scorer(settings), lambda: progress.advance(bar))


def _run_intents(rows: Sequence[LabelledIntent], settings: Settings) -> IntentReport | None:
    return evaluate_intents(rows, QueryAnalyzer(MemoizedEmbedder(load_embedder(settings)))) if rows else None


def _claim_scorer(settings: Settings) -> ScoreClaim:
    scorer = SupportScorer(MemoizedEmbedder(load_embedder(settings)))
    return lambda claim, source: scorer.score(claim, [source]).score


def _count_rows(evaluation_set: EvaluationSet) -> dict[str, int]:
    return {
        "documents": len(evaluation_set.documents),
        "corpora": len(evaluation_set.corpora),
        "questions": len(evaluation_set.questions),
        "claims": len(evaluation_set.claims),
        "intents": len(evaluation_set.intents),
    }


def _versions(settings: Settings) -> dict[str, str]:
    return {
        "python": platform.python_version(),
        **{library: _version_of(library) for library in _LIBRARIES},
        "embedding_model": settings.embedding_model,
        "answers_by": settings.chat_model if settings.uses_chat_endpoint else "extractive",
    }


def _version_of(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # run from its sources
        return "not installed"
