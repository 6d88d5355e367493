"""Train the relevance models and write ``citeloop/retrieval/relevance_weights.json``.

    python benchmarks/train_relevance.py DATA_DIR [--cache DIR] [--write]

What is trained on what (no article and no question of a scored set):

- sentence and passage: the English questions of xquad whose article is not among those of squad2, and clapnq's
  answerable ones;
- answer: the questions of xquad as above; of squad2, unanswerable ones included, those of every second of its 16
  articles in alphabetical order; of clapnq, unanswerable ones included, one half by a hash of their ids. Figures for
  this model are those of the other halves.

Scored once frozen: squad2, xquad's other English articles, clapnq (seen in training by the first two), hotpot100.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from answer_model import (
    PASSAGES,
    UNANSWERABLE_SHARE,
    QuotedAnswer,
    fit_answer,
    operating_point,
    question_weights,
    quote,
)
from calibration import area_under_curve, calibration_error
from linear_fit import fit_linear, listwise, logistic
from relevance_data import Example, article_of, group_of, halves_by_article, is_taught, read_examples

from citeloop.models.grounded_writer import LEAST_RELEVANCE
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.retrieval.relevance import LinearModel, probability
from citeloop.retrieval.relevance_features import (
    passage_features,
)

WEIGHTS = Path(__file__).parents[1] / "citeloop" / "retrieval" / "relevance_weights.json"
CLAPNQ_SHARE = 0.5
"""Weight of a clapnq question beside an xquad one: it has several gold sentences, and is a search query."""


def main() -> None:
    arguments = _arguments()
    sets = _read_sets(arguments.data, arguments.cache)
    trained = [*sets["xquad-train"], *_answerable(sets["clapnq"])]
    sentence = fit_sentence([example.keep(range(PASSAGES)) for example in trained])
    passage = fit_passage(sentence, trained)
    quoted = {
        name: [quote(sentence, passage, example, group_of(name, example)) for example in examples]
        for name, examples in sets.items()
    }
    taught = [*quoted["squad2-train"], *quoted["xquad-train"], *quoted["clapnq-train"]]
    answer = fit_answer(taught)
    print("operating point", json.dumps(operating_point(taught)))
    for name, examples in sets.items():
        print(name, json.dumps(report(sentence, passage, answer, examples, quoted[name])))
    if arguments.write:
        write({"sentence": sentence, "passage": passage, "answer": answer})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with xquad, squad2, clapnq and hotpot100")
    parser.add_argument("--cache", type=Path, default=Path(".cache/relevance"), help="where vectors are kept")
    parser.add_argument("--write", action="store_true", help="replace the shipped weights")
    return parser.parse_args()


def _read_sets(data: Path, cache: Path) -> dict[str, list[Example]]:
    embedder = OnnxEmbedder(threads=2)

    def read(name: str, language: str | None = None) -> list[Example]:
        return read_examples(data, name, embedder, cache, lambda row: True, language)

    xquad, squad2, clapnq = read("xquad", "en"), read("squad2"), read("clapnq")
    articles = {article_of(example.row["context_doc_id"]) for example in squad2}
    trained, other = halves_by_article(squad2)
    return {
        "xquad-train": [example for example in xquad if example.row["article"] not in articles],
        "xquad-other": [example for example in xquad if example.row["article"] in articles],
        "clapnq": clapnq,
        "clapnq-train": [example for example in clapnq if is_taught(example.row["qid"])],
        "clapnq-other": [example for example in clapnq if not is_taught(example.row["qid"])],
        "hotpot100": read("hotpot100"),
        "squad2-train": trained,
        "squad2-other": other,
        "squad2": squad2,
    }


def _answerable(examples: Iterable[Example]) -> list[Example]:
    return [example for example in examples if example.row["gold_doc_ids"]]


def fit_sentence(examples: Sequence[Example]) -> LinearModel:
    """Listwise: the softmax over all sentences of a question's candidates should fall on those that answer.

    Sentences outside the gold documents that happen to hold the answer are neither right nor wrong: left out.
    """
    columns, right, weights = [], [], []
    for example in examples:
        gold = example.in_gold[example.laid_out.passage]
        if (example.answers * gold).any():
            kept = (gold > 0) | (example.answers == 0)
            columns.append({name: column[kept] for name, column in example.columns.items()})
            right.append((example.answers * gold)[kept])
            weights.append(CLAPNQ_SHARE if "gold_sentences" in example.row else 1.0)
    starts = np.cumsum([0, *map(len, right)])[:-1]
    return fit_linear(columns, listwise(np.concatenate(right), starts, np.array(weights)), penalty=1e-2)


def fit_passage(sentence: LinearModel, examples: Sequence[Example]) -> LinearModel:
    """Logistic: P(the candidate is a gold document)."""
    columns = [passage_features(e.laid_out, e.columns, sentence.logits(e.columns)) for e in examples]
    gold = np.concatenate([example.in_gold for example in examples])
    return fit_linear(columns, logistic(gold, np.ones(len(gold))), penalty=1e-4)


def report(
    sentence: LinearModel,
    passage: LinearModel,
    answer: LinearModel,
    examples: list[Example],
    answers: Sequence[QuotedAnswer],
) -> dict[str, float]:
    """Figures of one set; percentages but for the areas under the curve and the calibration errors."""
    relevance = np.array([float(probability(answer.logits(quoted.columns))[0]) for quoted in answers])
    answerable = np.array([quoted.is_answerable for quoted in answers])
    right = np.array([quoted.is_right for quoted in answers])
    told = answerable & (relevance >= LEAST_RELEVANCE)
    first = np.array([quoted.first_is_right for quoted in answers])
    figures = {
        "questions": len(examples),
        "answerable": int(answerable.sum()),
        "first_right": 100 * float(np.mean((first & told)[answerable])),
        "answer_right": 100 * float(np.mean((right & told)[answerable])),
        "answered": 100 * float(np.mean(told[answerable])),
        "words": float(np.median([quoted.word_count for quoted, asked in zip(answers, told, strict=True) if asked])),
        "ece": calibration_error(relevance, right, question_weights(answers)),
        "least_of_49_in_50_right": float(np.quantile(relevance[right], 0.02)),
        "auc_right": area_under_curve(relevance, right),
        **_ranking([example for example, asked in zip(examples, answerable, strict=True) if asked], "fused", None),
        **_ranking(
            [example for example, asked in zip(examples, answerable, strict=True) if asked],
            "reranked",
            [quoted.ranked for quoted, asked in zip(answers, answerable, strict=True) if asked],
        ),
        "passage_ece": _passage_error(sentence, passage, examples),
    }
    if not answerable.all():
        figures["auc_answerable"] = area_under_curve(relevance, answerable)
        figures["refused_unanswerable"] = 100 * float(np.mean((relevance < LEAST_RELEVANCE)[~answerable]))
    return {name: round(value, 3) for name, value in figures.items()}


def _ranking(examples: list[Example], label: str, ranked: list[list[str]] | None) -> dict[str, float]:
    figures: dict[str, list[float]] = {"recall@1": [], "recall@5": [], "recall@10": [], "mrr": []}
    for example, ids in zip(examples, ranked or [example.document_ids for example in examples], strict=True):
        gold = set(example.row["gold_doc_ids"])
        for depth in (1, 5, 10):
            figures[f"recall@{depth}"].append(100 * len(gold & set(ids[:depth])) / len(gold))
        figures["mrr"].append(next((100 / rank for rank, i in enumerate(ids, 1) if i in gold), 0.0))
    return {f"{label}_{name}": float(np.mean(values)) for name, values in figures.items()}


def _passage_error(sentence: LinearModel, passage: LinearModel, examples: list[Example]) -> float:
    columns = [passage_features(e.laid_out, e.columns, sentence.logits(e.columns)) for e in examples]
    grades = probability(np.concatenate([passage.logits(table) for table in columns]))
    gold = np.concatenate([example.in_gold for example in examples])
    return calibration_error(grades, gold > 0, np.ones(len(gold)))


def write(models: Mapping[str, LinearModel]) -> None:
    """The weights with where they come from; ``sha256`` is that of the models alone."""
    told = {name: {"intercept": model.intercept, "weights": dict(model.weights)} for name, model in models.items()}
    document = {
        "version": 1,
        "made_by": "benchmarks/train_relevance.py",
        "trained_on": {
            "sentence": "xquad (en) articles not in squad2; clapnq, answerable, at half weight",
            "passage": "the same",
            "answer": "squad2, every second article in alphabetical order; xquad (en) articles not in squad2; clapnq, "
            "one half by a hash of the ids; calibrated on each article or part left out, "
            f"unanswerable questions weighted to a share of {UNANSWERABLE_SHARE}",
        },
        "sources": "xquad and squad2: CC BY-SA 4.0; clapnq: Apache-2.0. The weights hold none of their text.",
        "sha256": hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest(),
        "models": told,
    }
    WEIGHTS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
