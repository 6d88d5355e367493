"""What ``citeloop eval`` tells: one JSON object, or tables for people."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console
from rich.table import Table

from citeloop.evaluation.bootstrap import CONFIDENCE, RESAMPLES, SEED, Estimate
from citeloop.state.config import RAGConfig

_COUNTED = frozenset({"answer_words", "correction_rounds"})


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Failure(_Part):
    """A question that raised. It counts as one for which nothing was found and nothing was said."""

    qid: str
    question: str
    error: str


class QuestionReport(_Part):
    """Figures over questions; shares as fractions of 1, ``None`` where no question bears on a figure."""

    measured: int
    metrics: Mapping[str, Estimate | None]
    by_type: Mapping[str, Mapping[str, Estimate | None]]
    statuses: Mapping[str, int]
    seconds: float = Field(description="Wall-clock time of all questions.")
    errors: tuple[Failure, ...] = ()


class ClaimReport(_Part):
    """Figures of the support score."""

    measured: int
    metrics: Mapping[str, Estimate | None]


class IntentReport(_Part):
    """Figures of the analyzer."""

    measured: int
    scheme: str = Field(description="How an analysis was read in the labels of the set.")
    metrics: Mapping[str, Estimate | None]
    confusion: Mapping[str, Mapping[str, int]] = Field(
        description="Counts by label of the set, then by label predicted."
    )


class BootstrapSettings(_Part):
    """How the intervals were made."""

    resamples: int = RESAMPLES
    seed: int = SEED
    confidence: float = CONFIDENCE


class Report(_Part):
    """Everything about one run, enough to repeat it."""

    set_name: str
    set_sha256: str
    set_counts: Mapping[str, int] = Field(description="Rows of the set by kind, before selection.")
    corpora: tuple[str, ...] = ()
    own_corpus: bool = False
    last_turn: bool = False
    where: tuple[tuple[str, str], ...] = Field((), description="Fields of the rows measured, with their values.")
    limit: int | None = None
    concurrency: int = 1
    settings: RAGConfig
    versions: Mapping[str, str]
    bootstrap: BootstrapSettings = BootstrapSettings()
    questions: QuestionReport | None = None
    claims: ClaimReport | None = None
    intents: IntentReport | None = None


def print_report(report: Report, console: Console) -> None:
    """Write the report as tables: shares in percent, every figure with its 95% interval."""
    console.print(f"{report.set_name} ({report.set_sha256[:12]})", highlight=False)
    if report.questions:
        _print_questions(report.questions, report.settings, console)
    if report.claims:
        console.print(f"{report.claims.measured} claims", highlight=False)
        console.print(_metric_table(report.claims.metrics))
    if report.intents:
        _print_intents(report.intents, console)


def _print_questions(questions: QuestionReport, settings: RAGConfig, console: Console) -> None:
    rounds = settings.max_correction_rounds
    run = f"{questions.measured} questions, strategy {settings.strategy}, at most {rounds} correction rounds"
    console.print(run, highlight=False)
    console.print(_metric_table(questions.metrics))
    if len(questions.by_type) > 1:
        console.print(_type_table(questions.by_type))
    statuses = ", ".join(f"{status} {count}" for status, count in questions.statuses.items())
    console.print(f"{statuses}; {questions.seconds:.1f} s in all", highlight=False)
    for failure in questions.errors:
        console.print(f"error at {failure.qid}: {failure.error}", style="red", markup=False)


def _print_intents(intents: IntentReport, console: Console) -> None:
    console.print(f"{intents.measured} questions, analysis read as {intents.scheme}", highlight=False)
    console.print(_metric_table(intents.metrics))
    console.print("labels of the set (rows) against labels predicted")
    console.print(_confusion_table(intents.confusion))


def _metric_table(metrics: Mapping[str, Estimate | None]) -> Table:
    table = Table("metric")
    for heading in ("value", "95% interval", "n"):
        table.add_column(heading, justify="right")
    for name, figure in metrics.items():
        interval = f"{_told(name, figure.low)} - {_told(name, figure.high)}" if figure else ""
        table.add_row(name, _value(name, figure), interval, str(figure.n) if figure else "0")
    return table


def _type_table(by_type: Mapping[str, Mapping[str, Estimate | None]]) -> Table:
    table = Table("by type", *by_type)
    for name in next(iter(by_type.values())):
        table.add_row(name, *(_value(name, metrics[name]) for metrics in by_type.values()))
    return table


def _confusion_table(confusion: Mapping[str, Mapping[str, int]]) -> Table:
    predicted = sorted({label for counts in confusion.values() for label in counts})
    table = Table("label", *predicted)
    for label, counts in confusion.items():
        table.add_row(label, *(str(counts.get(name, 0)) for name in predicted))
    return table


def _value(name: str, figure: Estimate | None) -> str:
    return _told(name, figure.value) if figure else "-"


def _told(name: str, value: float) -> str:
    if name.endswith("_ms"):
        return f"{value:.1f} ms"
    return f"{value:.1f}" if name in _COUNTED else f"{100 * value:.1f}"
