"""Train the support model: does a source say what a claim says? Writes the weights and what they score.

    python benchmarks/train_support.py DATA_DIR [--write citeloop/verification/evidence/support_weights.json]
        [--plot evals/support_reliability.svg]

DATA_DIR holds ``attributionbench/claims.jsonl`` (human labels; fields ``claim, source, supported, question, split``).
Trained on the rows whose ``split`` is dev or test; scored on those whose ``split`` is ood: other source datasets, no
question in common. ``--write`` saves the weights that were scored, not others trained on more.

Labelled claims hardly ever differ from their source in one number or one "not", so made-up ones are added at a low
weight: labelled and quoted claims in which one number, name, negation or word is changed (``changed_claims.py``). They
pull down claims that conflict with their source; the scale is then set on labelled rows alone (Platt scaling). What
``find_contradiction`` finds is taken off afterwards, as the package does it.
"""

import argparse
import hashlib
import json
import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from calibration import calibration_error
from changed_claims import CHANGES, FEWEST_WORDS
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.preprocessing import StandardScaler
from support_reliability import draw_reliability, errors_by_base_rate

from citeloop.models.embedder import Embedder
from citeloop.models.load import load_embedder
from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.settings import Settings
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.confidence import all_supported
from citeloop.verification.evidence.contradictions import find_contradiction
from citeloop.verification.evidence.features import FEATURES, evidence_sentences, match_claim
from citeloop.verification.evidence.support import CONTRADICTED_SUPPORT, SupportModel
from citeloop.verification.evidence.traits import read_traits

Array: TypeAlias = NDArray[np.float64]

MADE_UP_WEIGHT = 0.05
SUPPORTED_FROM = 0.7


@dataclass(frozen=True, slots=True)
class Row:
    """One training or test case; ``kind`` is "labelled", or the change that made it up."""

    claim: str
    source: str
    supported: bool
    split: str
    question: str
    kind: str = "labelled"


def read_rows(path: Path) -> list[Row]:
    """The labelled rows, citation markers taken out of the claims."""
    records = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [
        Row(parse_citations(r["claim"], {}).text.strip(), r["source"], r["supported"], r["split"], r["question"])
        for r in records
    ]


def make_up_rows(rows: Sequence[Row], seed: int = 0) -> list[Row]:
    """Changed claims (unsupported) of the supported rows, and sentences of their sources, as they are and changed."""
    rng = random.Random(seed)
    made: list[Row] = []
    for row in rows:
        if not row.supported:
            continue
        made += _changed(row, rng)
        sentences = [s.text for s in evidence_sentences([row.source]) if 6 <= len(s.text.split()) <= 40]
        if sentences and rng.random() < 0.35:
            quoted = Row(rng.choice(sentences), row.source, True, row.split, row.question, "quoted")
            made += [quoted, *_changed(quoted, rng)]
    return made


def _changed(row: Row, rng: random.Random) -> list[Row]:
    if len(row.claim.split()) < FEWEST_WORDS:
        return []
    changed = ((kind, change(row.claim, row.source, rng)) for kind, change in CHANGES.items())
    return [Row(claim, row.source, False, row.split, row.question, kind) for kind, claim in changed if claim]


def measure(rows: Sequence[Row], embedder: Embedder) -> "Data":
    """Features of the rows, and which of them say otherwise than their source."""
    nothing = read_traits("")
    matrix, contradicted = [], []
    for row in rows:
        texts = [sentence.text for sentence in evidence_sentences([row.source])]
        claim, *sentences = embedder.embed([row.claim, *texts])
        traits = [read_traits(text) for text in texts]
        match = match_claim(read_traits(row.claim), claim, traits, np.stack(sentences), nothing)
        matrix.append(match.features)
        contradicted.append(find_contradiction(row.claim, texts[match.best], texts, nothing) is not None)
    return Data(list(rows), np.array(matrix), np.array(contradicted))


@dataclass(frozen=True, slots=True)
class Data:
    """Rows with their features, and what the fits ask of them as arrays."""

    rows: list[Row]
    features: Array
    """Shape ``(len(rows), len(FEATURES))``."""
    contradicted: NDArray[np.bool_]

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have a human label."""
        return np.array([row.kind == "labelled" for row in self.rows])

    @property
    def supported(self) -> NDArray[np.bool_]:
        """The labels."""
        return np.array([row.supported for row in self.rows])


def fit(data: Data, chosen: NDArray[np.bool_]) -> SupportModel:
    """Logistic regression on the ``chosen`` rows, scaled on the labelled ones among them."""
    weight = np.where(data.labelled, 1.0, MADE_UP_WEIGHT)
    scaler = StandardScaler().fit(data.features[chosen & data.labelled])
    standard = scaler.transform(data.features)
    model = LogisticRegression(C=0.3, max_iter=2000)
    model.fit(standard[chosen], data.supported[chosen], sample_weight=weight[chosen])
    logits = model.decision_function(standard)[:, None]
    platt = LogisticRegression(C=1e6).fit(logits[chosen & data.labelled], data.supported[chosen & data.labelled])
    slope, offset = float(platt.coef_[0, 0]), float(platt.intercept_[0])
    coefficients = slope * model.coef_[0] / scaler.scale_
    intercept = slope * float(model.intercept_[0]) + offset - float(coefficients @ scaler.mean_)
    return SupportModel(intercept, tuple(float(value) for value in coefficients))


def predict(model: SupportModel, data: Data) -> Array:
    """Support, one per row."""
    predicted = np.array([model.probability(tuple(row)) for row in data.features])
    return np.where(data.contradicted, np.minimum(predicted, CONTRADICTED_SUPPORT), predicted)


def report(data: Data, predicted: Array, chosen: NDArray[np.bool_]) -> dict[str, float]:
    """Figures on the labelled rows, and the share of each kind of made-up claim that falls under ``SUPPORTED_FROM``."""
    labels, scores = data.supported[chosen & data.labelled], predicted[chosen & data.labelled]
    figures = {
        "rows": float(len(labels)),
        "macro_f1": f1_score(labels, scores >= 0.5, average="macro"),
        "auc": roc_auc_score(labels, scores),
        "ece": calibration_error(scores, labels, np.ones(len(labels))),
        "precision_at_0.7": labels[scores >= SUPPORTED_FROM].mean(),
        "recall_at_0.7": (scores[labels] >= SUPPORTED_FROM).mean(),
    }
    kinds = np.array([row.kind for row in data.rows])
    for kind in ("quoted", *CHANGES):
        figures[f"{kind}_under_0.7"] = (predicted[chosen & (kinds == kind)] < SUPPORTED_FROM).mean()
    return {name: round(float(value), 4) for name, value in figures.items()}


def cross_validate(data: Data, seen: NDArray[np.bool_], folds: int = 5) -> dict[str, float]:
    """Each of the ``seen`` rows scored by a model that saw none of its question's rows, and none of the others."""
    predicted = np.zeros(len(data.rows))
    places = np.flatnonzero(seen)
    questions = [data.rows[place].question for place in places]
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
    for train, test in splitter.split(data.features[places], data.supported[places], questions):
        chosen = np.isin(np.arange(len(data.rows)), places[train])
        predicted[places[test]] = predict(fit(data, chosen), data)[places[test]]
    return report(data, predicted, seen) | report_answers(data, predicted, seen)


def report_answers(data: Data, predicted: Array, chosen: NDArray[np.bool_]) -> dict[str, float]:
    """Log loss of "every claim of the answer is supported" (answers of two claims or more), by how it is predicted."""
    answers: defaultdict[str, list[int]] = defaultdict(list)
    for index in np.flatnonzero(chosen & data.labelled):
        answers[data.rows[index].question].append(int(index))
    several = [members for members in answers.values() if len(members) > 1]
    truth = [bool(data.supported[members].all()) for members in several]
    ways: dict[str, Callable[[Sequence[float]], float]] = {
        "product": math.prod,
        "smallest": min,
        "shipped": all_supported,
    }
    losses = {
        f"answer_log_loss_{name}": log_loss(
            truth, np.clip([way(predicted[members].tolist()) for members in several], 1e-4, 1)
        )
        for name, way in ways.items()
    }
    return {"answers": float(len(several))} | {name: round(float(loss), 4) for name, loss in losses.items()}


def main() -> None:
    """Train, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--write", type=Path, help="save the weights there")
    parser.add_argument("--plot", type=Path, help="draw the reliability on the unseen rows there")
    arguments = parser.parse_args()
    source = arguments.data_dir / "attributionbench" / "claims.jsonl"
    embedder = MemoizedEmbedder(load_embedder(Settings()), max_texts=40_000)
    labelled = read_rows(source)
    rows = labelled + make_up_rows(labelled)
    data = measure(rows, embedder)
    unseen = np.array([row.split == "ood" for row in rows])
    model = fit(data, ~unseen)
    predicted, shown = predict(model, data), unseen & data.labelled
    base_rate = float(data.supported[~unseen & data.labelled].mean())
    weights = {
        "model": "logistic regression over citeloop.verification.evidence.features.FEATURES",
        "version": 1,
        "made_by": "benchmarks/train_support.py",
        "trained_on": "AttributionBench claims (Apache-2.0), rows whose split is dev or test",
        "scored_on": "its rows whose split is ood: other source datasets, no question in common",
        "data_sha256": hashlib.sha256(source.read_bytes()).hexdigest(),
        "embedding_model": embedder.model_id,
        "base_rate": round(base_rate, 4),
        "unseen": report(data, predicted, unseen),
        "unseen_ece_by_base_rate": errors_by_base_rate(predicted[shown], data.supported[shown], base_rate),
        "cross_validation": cross_validate(data, ~unseen),
        "intercept": round(model.intercept, 6),
        "coefficients": {name: round(value, 6) for name, value in zip(FEATURES, model.coefficients, strict=True)},
    }
    text = json.dumps(weights, indent=2) + "\n"
    print(text)
    if arguments.write:
        arguments.write.write_text(text, "utf-8")
    if arguments.plot:
        draw_reliability(arguments.plot, predicted[shown], data.supported[shown])


if __name__ == "__main__":
    main()
