"""Which kind of question is this, and is it one at all? Small linear models over its words and its embedding.

Trained by ``benchmarks/train_analyzer.py``; ``question_kinds.json`` says on what. Microseconds, once the question is
embedded, which the search does anyway.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citeloop.retrieval.question_cues import kind_cues, small_talk_cues

QuestionKind = Literal["single_hop", "multi_hop", "comparative", "explanatory"]
"""One fact from one place; facts from several places joined; things weighed; an answer of several sentences."""

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LinearHead:
    """The logit of one class: weights of cues by name, and of the embedding's dimensions (none: words alone)."""

    intercept: float
    cues: Mapping[str, float]
    vector: NDArray[np.float64]

    def logit(self, cues: Mapping[str, float], vector: Vector | None) -> float:
        """``intercept + weights * features``."""
        told = self.intercept + sum(weight * cues[name] for name, weight in self.cues.items())
        return told if vector is None or not len(self.vector) else told + float(self.vector @ vector)


@dataclass(frozen=True, slots=True)
class QuestionModels:
    """The shipped models. Those of words alone serve where the embedding is of another model."""

    embedding_model: str
    kinds: Mapping[QuestionKind, LinearHead]
    kinds_by_words: Mapping[QuestionKind, LinearHead]
    small_talk: LinearHead
    small_talk_words: frozenset[str]
    """Stems of the content words that small talk is made of."""

    def kind_probabilities(self, question: str, vector: Vector | None) -> dict[QuestionKind, float]:
        """A probability for each kind; ``vector`` is the question's unit embedding by ``embedding_model``."""
        heads, cues = self.kinds_by_words if vector is None else self.kinds, kind_cues(question)
        logits = np.array([head.logit(cues, vector) for head in heads.values()])
        weights = np.exp(logits - logits.max())
        return dict(zip(heads, (weights / weights.sum()).tolist(), strict=True))

    def small_talk_probability(self, text: str, vector: Vector) -> float:
        """Probability that ``text`` is small talk, or about the assistant itself."""
        return float(1 / (1 + np.exp(-self.small_talk.logit(small_talk_cues(text), vector))))


@cache
def load_question_models() -> QuestionModels:
    """The shipped models; read once a process. Blocking."""
    told = json.loads((files(__package__) / "question_kinds.json").read_text(encoding="utf-8"))
    return QuestionModels(
        embedding_model=told["embedding_model"],
        kinds=_heads(told["kinds"]),
        kinds_by_words=_heads(told["kinds_by_words"]),
        small_talk=_head(told["small_talk"]),
        small_talk_words=frozenset(told["small_talk_words"]),
    )


def _heads(told: Mapping[QuestionKind, dict[str, object]]) -> dict[QuestionKind, LinearHead]:
    return {kind: _head(head) for kind, head in told.items()}


def _head(told: Mapping[str, object]) -> LinearHead:
    cues = told["cues"]
    assert isinstance(cues, dict)
    return LinearHead(float(str(told["intercept"])), cues, np.asarray(told["vector"], dtype=np.float64))
