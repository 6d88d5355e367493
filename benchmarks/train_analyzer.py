"""Train the analyzer's models and write ``citeloop/retrieval/question_kinds.json``.

    python benchmarks/train_analyzer.py DATA_DIR [--write]

- kinds: ``intents_complexity``, and the questions of our own in ``questions/own_training.jsonl``, each of which counts
  for four: the sets' styles tell their labels apart, which those of other people's questions do not;
- small talk: ``intents_clinc`` (small talk without fun facts and the meaning of life, which documents may well be asked
  for; not the commands of its domain ``meta``) and ``questions/small_talk.txt``, against its other domains, the
  questions of all sets, and those of ``questions/to_documents.txt``, which say "you" and mean people in general.

Scored: the half of the questions by a hash of their text, on models trained on the other half; and
``questions/other_styles.jsonl``, forty questions of our own, which none is trained on. Shipped are models trained on
all but those forty.
"""

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.retrieval.question_cues import kind_cues, small_talk_cues
from citeloop.retrieval.question_kinds import LinearHead, QuestionModels
from citeloop.retrieval.small_talk import is_small_talk
from citeloop.text.words import content_stems

WEIGHTS = Path(__file__).parents[1] / "citeloop" / "retrieval" / "question_kinds.json"
OWN = Path(__file__).parent / "questions"
KINDS = ("single_hop", "multi_hop", "comparative", "explanatory")
QUESTION_SETS = ("clapnq", "hotpot100", "mtragun", "musique100", "qmsum", "squad2", "twowiki", "xquad")
NOT_SMALL_TALK = ("fun_fact", "meaning_of_life")
VECTOR_SCALE = 3.0
"""Brings the dimensions of a unit vector to the size of the cues, so that one penalty fits both."""

OWN_WEIGHT = 4.0
FEWEST_USES = 2
"""Texts of small talk that a word must stand in to count as one of small talk."""

KIND_PENALTY, SMALL_TALK_PENALTY = 0.1, 1.0
"""Inverse strength of the L2 penalty."""

OWN_TEXTS = {line for name in ("small_talk", "to_documents") for line in (OWN / f"{name}.txt").read_text().splitlines()}

Matrix = NDArray[np.float64]
Cues = Callable[[str], dict[str, float]]


class Examples:
    """Questions with labels, their cues and their vectors."""

    def __init__(self, rows: Sequence[tuple[str, str]], cues: Cues, embedder: OnnxEmbedder, weight: float = 1.0):
        self.texts, self.labels = [row[0] for row in rows], np.array([row[1] for row in rows])
        self.names = list(cues("a"))
        self.cues = np.array([list(cues(text).values()) for text in self.texts])
        self.vectors = np.concatenate([embedder.embed(self.texts[i : i + 64]) for i in range(0, len(rows), 64)])
        self.weights = np.full(len(rows), weight)
        self.second_half = np.array([hashlib.sha256(text.encode()).digest()[1] & 1 == 1 for text in self.texts])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with the sets")
    parser.add_argument("--write", action="store_true", help="replace the shipped weights")
    arguments = parser.parse_args()
    embedder = OnnxEmbedder(threads=2)
    kinds = Examples(_labelled(arguments.data / "intents_complexity" / "intents.jsonl"), kind_cues, embedder)
    own = Examples(_labelled(OWN / "own_training.jsonl"), kind_cues, embedder, OWN_WEIGHT)
    test = Examples(_labelled(OWN / "other_styles.jsonl"), kind_cues, embedder)
    talk = Examples(_small_talk(arguments.data), small_talk_cues, embedder)
    half = train(kinds, own, talk, ~kinds.second_half, ~talk.second_half)
    report_kinds("second half of intents_complexity", half, kinds, kinds.second_half)
    report_kinds("forty of our own", half, test, np.full(len(test.texts), True))
    report_small_talk(half, talk, talk.second_half & ~np.array([text in OWN_TEXTS for text in talk.texts]))
    shipped = train(kinds, own, talk, np.full(len(kinds.texts), True), np.full(len(talk.texts), True))
    report_kinds("forty of our own, as shipped", shipped, test, np.full(len(test.texts), True))
    if arguments.write:
        write(shipped)


def _labelled(path: Path) -> list[tuple[str, str]]:
    return [(row["question"], row["label"]) for row in _rows(path)]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _small_talk(data: Path) -> list[tuple[str, str]]:
    clinc = [row for row in _rows(data / "intents_clinc" / "intents.jsonl") if row["label"] != "meta"]
    labelled = {
        row["question"]: "talk" if row["label"] == "small_talk" else "question"
        for row in clinc
        if row["intent"] not in NOT_SMALL_TALK
    }
    for name in QUESTION_SETS:
        for row in _rows(data / name / "questions.jsonl"):
            if row.get("lang", "en") == "en":
                labelled.setdefault(row["question"].strip(), "question")
    return [*labelled.items(), *_lines("small_talk.txt", "talk"), *_lines("to_documents.txt", "question")]


def _lines(name: str, label: str) -> list[tuple[str, str]]:
    return [(line, label) for line in (OWN / name).read_text(encoding="utf-8").splitlines()]


def train(
    kinds: Examples, own: Examples, talk: Examples, kinds_kept: NDArray[np.bool_], talk_kept: NDArray[np.bool_]
) -> QuestionModels:
    """All models, from the rows kept."""
    labels = np.concatenate([kinds.labels[kinds_kept], own.labels])
    weights = np.concatenate([kinds.weights[kinds_kept], own.weights])
    cues = np.vstack([kinds.cues[kinds_kept], own.cues])
    vectors = np.vstack([kinds.vectors[kinds_kept], own.vectors])
    is_talk = talk.labels != "question"
    own_talk = np.array([text in OWN_TEXTS for text in talk.texts])
    kept, weights_of_talk = talk_kept | own_talk, np.where(own_talk, OWN_WEIGHT, 1.0)
    small_talk = _fit(
        talk.names, talk.cues[kept], talk.vectors[kept], is_talk[kept], weights_of_talk[kept], SMALL_TALK_PENALTY
    )
    stems = Counter(stem for at in np.flatnonzero(kept & is_talk) for stem in set(content_stems(talk.texts[at])))
    return QuestionModels(
        embedding_model=OnnxEmbedder(threads=1).model_id,
        kinds=_by_kind(kinds.names, cues, vectors, labels, weights),
        kinds_by_words=_by_kind(kinds.names, cues, np.zeros((len(cues), 0)), labels, weights, 1.0),
        small_talk=small_talk["True"],
        small_talk_words=frozenset(stem for stem, count in stems.items() if count >= FEWEST_USES),
    )


def _by_kind(
    names: list[str], cues: Matrix, vectors: Matrix, labels: Any, weights: Matrix, penalty: float = KIND_PENALTY
) -> Any:
    heads = _fit(names, cues, vectors, labels, weights, penalty)
    return {kind: heads[kind] for kind in KINDS}


def _fit(
    names: list[str], cues: Matrix, vectors: Matrix, labels: Any, weights: Matrix | None, penalty: float
) -> dict[str, LinearHead]:
    model = LogisticRegression(C=penalty, max_iter=3000)
    model.fit(np.hstack([cues, VECTOR_SCALE * vectors]), labels, sample_weight=weights)
    classes = model.classes_ if len(model.classes_) > 2 else model.classes_[1:]
    return {
        str(label): LinearHead(
            round(float(intercept), 4),
            {name: round(float(weight), 4) for name, weight in zip(names, row, strict=False)},
            np.round(VECTOR_SCALE * row[len(names) :], 3),
        )
        for label, row, intercept in zip(classes, model.coef_, model.intercept_, strict=True)
    }


def report_kinds(name: str, models: QuestionModels, examples: Examples, scored: NDArray[np.bool_]) -> None:
    """Accuracy with the embedding and by words alone, and what is taken for what."""
    for way in ("embedding and words", "words alone"):
        table = {kind: dict.fromkeys(KINDS, 0) for kind in KINDS}
        for at in np.flatnonzero(scored):
            vector = examples.vectors[at] if way != "words alone" else None
            told = models.kind_probabilities(examples.texts[at], vector)
            table[examples.labels[at]][max(told, key=lambda kind: told[kind])] += 1
        right = sum(table[kind][kind] for kind in KINDS)
        print(f"{name}, {way}: {100 * right / scored.sum():.1f} of {scored.sum()}", json.dumps(table))


def report_small_talk(models: QuestionModels, examples: Examples, scored: NDArray[np.bool_]) -> None:
    """Recall of small talk, and the questions taken for it."""
    told = {True: 0, False: 0}
    of, wrong = dict(told), []
    for at in np.flatnonzero(scored):
        talks = bool(examples.labels[at] != "question")
        found = is_small_talk(examples.texts[at], models, examples.vectors[at])
        of[talks] += 1
        told[talks] += found
        if found and not talks:
            wrong.append(examples.texts[at])
    accuracy = 100 * (told[True] + of[False] - told[False]) / (of[True] + of[False])
    print(
        f"small talk: {told[True]} of {of[True]} found, {told[False]} of {of[False]} questions taken for it;", end=" "
    )
    print(f"accuracy {accuracy:.1f}, balanced {50 * (told[True] / of[True] + 1 - told[False] / of[False]):.1f}", wrong)


def write(models: QuestionModels) -> None:
    """Replace the shipped weights."""

    def told(head: LinearHead) -> dict[str, object]:
        return {"intercept": head.intercept, "cues": dict(head.cues), "vector": head.vector.tolist()}

    text = json.dumps(
        {
            "version": 1,
            "made_by": "benchmarks/train_analyzer.py",
            "sources": "2WikiMultiHopQA Apache-2.0, MuSiQue CC BY 4.0, HotpotQA and XQuAD CC BY-SA 4.0,"
            " CLAPnq Apache-2.0, CLINC150 CC BY 3.0; questions of our own",
            "embedding_model": models.embedding_model,
            "small_talk_words": sorted(models.small_talk_words),
            "small_talk": told(models.small_talk),
            "kinds": {kind: told(head) for kind, head in models.kinds.items()},
            "kinds_by_words": {kind: told(head) for kind, head in models.kinds_by_words.items()},
        }
    )
    WEIGHTS.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {WEIGHTS}, {len(text)} characters")


if __name__ == "__main__":
    main()
