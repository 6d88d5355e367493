"""Does this sentence, this passage, this answer answer the question? Three small, readable logistic models.

Trained by ``benchmarks/train_relevance.py``; ``relevance_weights.json`` says on what. Numpy only: some 300 sentences
take a few milliseconds, most of them for taking apart sentences that were not seen lately.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from citeloop.models.embedder import Embedder
from citeloop.models.evidence import EvidencePassage, Scores
from citeloop.retrieval.answer_features import answer_features
from citeloop.retrieval.relevance_features import (
    CandidateSet,
    EmbeddedPassage,
    Question,
    passage_features,
    sentence_features,
)


@dataclass(frozen=True, slots=True)
class LinearModel:
    """``intercept + sum(weight * feature)``: the logit of a probability."""

    intercept: float
    weights: Mapping[str, float]

    def logits(self, features: Mapping[str, Scores]) -> Scores:
        """A logit per row; ``features`` holds every column the model has a weight for, and may hold more."""
        columns = (weight * features[name] for name, weight in self.weights.items())
        return np.asarray(sum(columns, start=np.float64(self.intercept)), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class RelevanceModels:
    """The three models: ``sentence`` feeds ``passage``; ``answer`` stands alone."""

    sentence: LinearModel
    passage: LinearModel
    answer: LinearModel

    def score_sentences(self, question: Question, candidates: Sequence[EmbeddedPassage]) -> list[Scores]:
        """Logits of the sentences, one array per candidate; meant for ranking within this call."""
        if not candidates:
            return []
        laid_out = CandidateSet(question, candidates)
        return np.split(self.sentence.logits(sentence_features(laid_out)), laid_out.starts[1:])

    def score_passages(self, question: Question, candidates: Sequence[EmbeddedPassage]) -> Scores:
        """Logits of the candidates, given in order of retrieval: rank on them; ``probability`` makes them a grade."""
        if not candidates:
            return np.zeros(0)
        laid_out = CandidateSet(question, candidates)
        columns = sentence_features(laid_out)
        return self.passage.logits(passage_features(laid_out, columns, self.sentence.logits(columns)))

    def answer_relevance(self, question: Question, evidence: Sequence[EmbeddedPassage]) -> float:
        """Calibrated probability that the sentences of ``evidence`` together answer ``question``; 0 for none."""
        if not evidence:
            return 0.0
        return float(probability(self.answer.logits(answer_features(question, evidence)))[0])


class RelevanceJudge:
    """The models over texts: an ``EvidenceJudge``. Thread-safe. Blocking; a memoised embedder makes it quick."""

    def __init__(self, embedder: Embedder, models: RelevanceModels | None = None) -> None:
        self._embedder = embedder
        self._models = models or load_relevance_models()

    def score_sentences(self, question: str, passages: Sequence[EvidencePassage]) -> list[Scores]:
        """Scores of the sentences, one array per passage; ``passages`` in order of retrieval."""
        return self._models.score_sentences(*self._embed(question, passages))

    def passage_relevance(self, question: str, passages: Sequence[EvidencePassage]) -> Scores:
        """Calibrated probability of each passage to hold the answer; ``passages`` in order of retrieval."""
        return probability(self._models.score_passages(*self._embed(question, passages)))

    def answer_relevance(self, question: str, passages: Sequence[EvidencePassage]) -> float:
        """Calibrated probability in [0, 1] that the sentences of ``passages``, taken together, answer the question."""
        return self._models.answer_relevance(*self._embed(question, passages))

    def score_embedded(self, question: str, candidates: Sequence[EmbeddedPassage]) -> Scores:
        """The logits behind ``passage_relevance``, for passages whose sentence vectors are at hand."""
        return self._models.score_passages(Question(question, self._embedder.embed([question])[0]), candidates)

    def _embed(self, question: str, passages: Sequence[EvidencePassage]) -> tuple[Question, list[EmbeddedPassage]]:
        texts = [question, *(sentence for passage in passages for sentence in passage.sentences)]
        vectors = self._embedder.embed(texts)
        ends = np.cumsum([len(passage.sentences) for passage in passages], dtype=int)
        cut = np.split(vectors[1:], ends[:-1])
        embedded = [EmbeddedPassage(passage, part) for passage, part in zip(passages, cut, strict=False)]
        return Question(question, vectors[0]), embedded


def probability(logits: Scores) -> Scores:
    """The logistic function in float64, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * np.asarray(logits, dtype=np.float64)))


@cache
def load_relevance_models() -> RelevanceModels:
    """The shipped models. Read once."""
    told = json.loads(files("citeloop.retrieval").joinpath("relevance_weights.json").read_text(encoding="utf-8"))
    return RelevanceModels(*(LinearModel(**told["models"][name]) for name in ("sentence", "passage", "answer")))
