"""Is confidence what it says? Among answers with confidence c, the share that is right; and the refusals, on the way.

    python benchmarks/confidence_reliability.py DATA_DIR [--cache DIR] [--limit N]

Asks the engine at its defaults, offline, questions that the answer model was not fitted on: of squad2 and xquad, which
share articles, those of the articles that did not teach it (see ``train_relevance.py``), of clapnq the other half, of
mtragun any. Right is an
answer that holds a gold string (squad2, xquad) or cites a gold document (clapnq, mtragun, whose gold is long prose);
one to an unanswerable question never is. Refusals have no confidence and are left out. Prints the expected calibration
error with its 95% bootstrap interval over questions, as the set is and as if ``UNANSWERABLE_SHARE`` of its questions
were unanswerable, and writes ``evals/confidence_reliability.svg``.
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from answer_model import UNANSWERABLE_SHARE
from plots import plot
from relevance_data import article_of, is_taught, taught_articles
from rich.console import Console
from statistics_of_scores import Weighted, told

from citeloop.evaluation.bootstrap import Floats, estimate
from citeloop.evaluation.classification import CalibrationError
from citeloop.evaluation.question_metrics import measure
from citeloop.evaluation.run import RunOptions, run_evaluation
from citeloop.evaluation.scoring import QuestionScore
from citeloop.evaluation.selection import Selection
from citeloop.evaluation.sets import Question, read_set
from citeloop.settings import Settings
from citeloop.state.config import RAGConfig

PLOT = Path(__file__).parents[1] / "evals" / "confidence_reliability.svg"
SETS: Mapping[str, Selection] = {
    "squad2": Selection(),
    "xquad": Selection(corpora=("xquad-en",), where=(("lang", "en"),)),
    "clapnq": Selection(),
    "mtragun": Selection(own_corpus=True),
}
REFUSALS = (
    "refusal_precision",
    "refusal_recall",
    "refusal_f1",
    "answer_hit",
    "answered_share_answerable",
    "answered_share",
)
BINS, LEAST_IN_BIN = 10, 8
UNHURRIED = RAGConfig(search_timeout_s=120, latency_budget_ms=600_000)
"""The defaults, with time limits that a busy machine does not reach."""


class Answers(NamedTuple):
    """The answers of one set, each ``(answers,)``."""

    confidence: Floats
    right: Floats
    weight: Floats
    """Under which ``UNANSWERABLE_SHARE`` of the set's questions are unanswerable."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with the sets")
    parser.add_argument("--cache", type=Path, default=Path(".cache/eval"), help="where indexes are kept")
    parser.add_argument("--limit", type=int, help="questions of each set at the most")
    parser.add_argument("--sets", nargs="*", choices=SETS, default=list(SETS))
    arguments = parser.parse_args()
    answers: dict[str, Answers] = {}
    for name in arguments.sets:
        scores = ask(arguments.data / name, SETS[name], arguments.cache, arguments.limit)
        answers[name] = weighed(scores, by_string=name in ("squad2", "xquad"))
        print_figures(name, scores, answers[name])
    draw(answers)


def ask(folder: Path, selection: Selection, cache: Path, limit: int | None) -> list[QuestionScore]:
    """The scored questions of the set that have a right answer or none beyond doubt."""
    with tempfile.TemporaryDirectory() as scratch:
        kept = Path(scratch) / folder.name
        write_held_apart(folder, kept)
        options = RunOptions(
            set_dir=kept,
            selection=Selection(selection.corpora, selection.own_corpus, selection.where, limit=limit),
            config=UNHURRIED,
            cache=cache,
        )
        _, scores = run_evaluation(options, Settings(), Console(stderr=True))
    return [score for score in scores if score.question.gold_doc_ids or score.question.unanswerable]


def write_held_apart(folder: Path, kept: Path) -> None:
    """The set without the questions that the answer model was fitted on, and those about the same articles."""
    asked = [question.context_doc_id for question in read_set(folder.parent / "squad2").questions]
    taught = taught_articles(asked)
    other = {article_of(context) for context in asked} - taught

    def is_held_apart(question: Question) -> bool:
        if folder.name == "clapnq":
            return not is_taught(question.qid)
        return folder.name not in ("squad2", "xquad") or _article(question) in other

    kept.mkdir()
    (kept / "corpus.jsonl").symlink_to((folder / "corpus.jsonl").resolve())
    rows = (question.model_dump_json() for question in read_set(folder).questions if is_held_apart(question))
    (kept / "questions.jsonl").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def weighed(scores: Sequence[QuestionScore], *, by_string: bool) -> Answers:
    """The answers with what they are worth, told by the gold strings or by the documents cited; refusals left out."""
    unanswerable = np.array([score.question.unanswerable for score in scores])
    odds = UNANSWERABLE_SHARE / (1 - UNANSWERABLE_SHARE) * (~unanswerable).sum() / max(1, unanswerable.sum())
    answered = [(score, odds if score.question.unanswerable else 1.0) for score in scores if score.answer]
    return Answers(
        confidence=np.array([score.response.confidence for score, _ in answered if score.response]),
        right=np.array([float(is_right(score, by_string)) for score, _ in answered]),
        weight=np.array([weight for _, weight in answered]),
    )


def is_right(score: QuestionScore, by_string: bool) -> bool:
    """Whether the answer is right, as the module says."""
    if score.answer is None or score.question.unanswerable:
        return False
    return score.answer.hit if by_string else score.answer.cited_gold > 0


def print_figures(name: str, scores: Sequence[QuestionScore], answers: Answers) -> None:
    """Refusals and answers together, then the calibration error at both base rates."""
    error = CalibrationError(answers.confidence, answers.right)
    errors = {"as it is": error, f"at {UNANSWERABLE_SHARE:.0%} unanswerable": Weighted(error, answers.weight)}
    print(f"{name}: {len(scores)} questions, {len(answers.right)} answers")
    for figure, value in measure(scores, REFUSALS).items():
        print(f"  {figure}: {told(value)}")
    for label, value in estimate(errors, len(answers.right)).items():
        print(f"  calibration error {label}: {told(value)}")
    for weight, label in zip((np.ones(len(answers.right)), answers.weight), errors, strict=True):
        mean, right = np.average(answers.confidence, weights=weight), np.average(answers.right, weights=weight)
        print(f"  {label}: mean confidence {mean:.3f}, right {right:.3f}")


def draw(answers: Mapping[str, Answers]) -> None:
    """Share right by confidence, in tenths that hold a few answers, at the base rate that confidence is made for."""
    with plot(PLOT, width=5.0, height=4.5) as axes:
        axes.plot([0, 1], [0, 1], color="0.8", lw=0.8, label="as it should be")
        for (name, found), marker in zip(answers.items(), "osD^v", strict=False):
            bins = np.minimum((found.confidence * BINS).astype(int), BINS - 1)
            full = [at for at in range(BINS) if np.sum(bins == at) >= LEAST_IN_BIN]
            confidence = [np.average(found.confidence[bins == at], weights=found.weight[bins == at]) for at in full]
            right = [np.average(found.right[bins == at], weights=found.weight[bins == at]) for at in full]
            axes.plot(confidence, right, marker=marker, markersize=4, lw=1, label=f"{name}, {len(bins)} answers")
        axes.set_xlabel("confidence")
        axes.set_ylabel("share of the answers that is right")
        axes.legend(loc="upper left", fontsize=8)


def _article(question: Question) -> str:
    return str((question.model_extra or {}).get("article") or article_of(question.context_doc_id))


if __name__ == "__main__":
    main()
