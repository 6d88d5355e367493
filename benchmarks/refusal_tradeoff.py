"""Answerable questions against near misses: how well the answer model tells them apart, beside the retrieval scores.

    python benchmarks/refusal_tradeoff.py DATA_DIR [--cache DIR]

squad2 by halves of its articles, as in ``train_relevance.py``: the answer model knows the one half, all that is told is
of the other. Prints areas under the curve with 95% bootstrap intervals over questions, and the shares at thresholds;
writes ``evals/refusal_tradeoff.svg``: share of the answerable questions answered, of the unanswerable ones refused.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from answer_model import quote
from numpy.typing import NDArray
from plots import plot
from relevance_data import Example, halves_by_article, read_examples
from statistics_of_scores import Difference, told

from citeloop.evaluation.bootstrap import estimate
from citeloop.evaluation.classification import AreaUnderCurve
from citeloop.models.grounded_writer import LEAST_RELEVANCE
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.retrieval.relevance import load_relevance_models, probability
from citeloop.retrieval.relevance_features import Matrix, passage_features

PLOT = Path(__file__).parents[1] / "evals" / "refusal_tradeoff.svg"
ANSWERED_SHARES = (0.99, 0.97, 0.95, 0.9, 0.8, 0.7)
RELEVANCE = "answer model"


class Scored(NamedTuple):
    """Questions with what could decide on refusing, each ``(questions,)``."""

    scores: Mapping[str, Matrix]
    answerable: NDArray[np.bool_]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with squad2")
    parser.add_argument("--cache", type=Path, default=Path(".cache/relevance"), help="where vectors are kept")
    arguments = parser.parse_args()
    embedder = OnnxEmbedder(threads=2)
    examples = read_examples(arguments.data, "squad2", embedder, arguments.cache, lambda row: True)
    scored = score(halves_by_article(examples)[1])
    print_areas(scored)
    print_shares(scored)
    draw(scored)


def score(examples: Sequence[Example]) -> Scored:
    """Of each question: the relevance of what would be quoted, and the best that retrieval has to say."""
    models = load_relevance_models()
    columns: dict[str, list[float]] = {RELEVANCE: [], "passage grade": [], "passage cosine": [], "sentence cosine": []}
    for example in examples:
        quoted = quote(models.sentence, models.passage, example, "")
        sentences = models.sentence.logits(example.columns)
        grades = models.passage.logits(passage_features(example.laid_out, example.columns, sentences))
        columns[RELEVANCE].append(float(probability(models.answer.logits(quoted.columns))[0]))
        columns["passage grade"].append(float(probability(grades).max()))
        columns["passage cosine"].append(float(example.columns["passage_cosine"].max()))
        columns["sentence cosine"].append(float(example.columns["cosine"].max()))
    answerable = np.array([bool(example.row["gold_doc_ids"]) for example in examples])
    return Scored({name: np.array(values) for name, values in columns.items()}, answerable)


def print_areas(scored: Scored) -> None:
    """The area of each score, and by how much that of the answer model is larger, paired."""
    labels = scored.answerable.astype(np.float64)
    areas = {name: AreaUnderCurve(values, labels) for name, values in scored.scores.items()}
    gains = {name: Difference(areas[RELEVANCE], area) for name, area in areas.items() if name != RELEVANCE}
    area, gain = estimate(areas, len(labels)), estimate(gains, len(labels))
    print(f"{scored.answerable.sum()} answerable questions, {(~scored.answerable).sum()} near misses")
    print(f"{RELEVANCE}: AUC {told(area[RELEVANCE])}")
    for name in gains:
        print(f"{name}: AUC {told(area[name])}, that of the answer model larger by {told(gain[name])}")


def print_shares(scored: Scored) -> None:
    """Refused near misses where so many answerable questions are answered, and at the default threshold."""
    for name, values in scored.scores.items():
        refused = [np.mean(_at(values, scored.answerable, share)[~scored.answerable]) for share in ANSWERED_SHARES]
        told = ", ".join(f"{share:.0%}: {part:.1%}" for share, part in zip(ANSWERED_SHARES, refused, strict=True))
        print(f"{name}: refused where answered {told}")
    refused = scored.scores[RELEVANCE] < LEAST_RELEVANCE
    answered, rightly = np.mean(~refused[scored.answerable]), np.mean(refused[~scored.answerable])
    print(f"at {LEAST_RELEVANCE}: answered {answered:.1%}, refused {rightly:.1%}")


def draw(scored: Scored) -> None:
    """A curve for each score, over all thresholds, and the default one as a point."""
    with plot(PLOT, width=5.5, height=4.5) as axes:
        for (name, values), style in zip(scored.scores.items(), ("-", "--", "-.", ":"), strict=True):
            thresholds = np.unique(values)[:: max(1, len(values) // 300)]
            answered = [100 * np.mean(values[scored.answerable] >= threshold) for threshold in thresholds]
            refused = [100 * np.mean(values[~scored.answerable] < threshold) for threshold in thresholds]
            axes.plot(refused, answered, style, lw=1.5 if name == RELEVANCE else 1.0, label=name)
        default = scored.scores[RELEVANCE] < LEAST_RELEVANCE
        point = 100 * np.mean(default[~scored.answerable]), 100 * np.mean(~default[scored.answerable])
        axes.plot(*point, "ko", markersize=5, label=f"default threshold, {LEAST_RELEVANCE}")
        axes.plot([0, 100], [100, 0], color="0.8", lw=0.8, label="chance")
        axes.set_xlabel("near misses refused, percent")
        axes.set_ylabel("answerable questions answered, percent")
        axes.legend(loc="lower left")


def _at(values: Matrix, answerable: NDArray[np.bool_], share: float) -> NDArray[np.bool_]:
    """What is refused under the threshold that answers ``share`` of the answerable questions."""
    refused: NDArray[np.bool_] = values < np.quantile(values[answerable], 1 - share)
    return refused


if __name__ == "__main__":
    main()
