"""Passages cut into sentences, and who judges them: what the extractive model and the scorers agree on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EvidencePassage:
    """A passage as evidence: its sentences in reading order, at least one, and the words that stand over them."""

    context: str
    """Title and headings: they often name what the sentences only refer to."""
    sentences: tuple[str, ...]
    lead_ins: tuple[int | None, ...] = ()
    """Where known, the index of what announces each sentence (the line above a list): it is read under that."""


@runtime_checkable  # pydantic asks it of a model's field
class EvidenceJudge(Protocol):
    """Says how well sentences answer a question. Thread-safe. Blocking: call it from a worker thread."""

    def score_sentences(self, question: str, passages: Sequence[EvidencePassage]) -> list[Scores]:
        """A score per sentence, one array per passage; scores of one call compare with each other only.

        ``passages`` stand in order of retrieval, best first.
        """

    def answer_relevance(self, question: str, passages: Sequence[EvidencePassage]) -> float:
        """Calibrated probability in [0, 1] that the sentences of ``passages``, taken together, answer the question."""
