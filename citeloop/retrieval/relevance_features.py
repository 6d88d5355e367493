"""Features of the relevance models: one row per sentence, and what a passage makes of them.

Features are named float64 columns whose rows follow the sentences of the passages in order. Differences
to the best of all candidates ("gap") are zero for the best and negative for the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from citeloop.models.embedder import Vectors
from citeloop.models.evidence import EvidencePassage
from citeloop.retrieval.question_type import ExpectedAnswer, expected_answer
from citeloop.retrieval.sentence_signals import SentenceSignals, read_signals

_Float = TypeVar("_Float", np.float32, np.float64)
Matrix: TypeAlias = NDArray[np.float64]

_NONE = -1
_OF_PASSAGES = ("passage_cosine", "passage_cosine_gap", "passage_coverage", "passage_coverage_gap", "log_rank")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its unit vector ``(dimension,)``."""

    text: str
    vector: Vectors


@dataclass(frozen=True, slots=True)
class EmbeddedPassage:
    """A passage with the unit vectors of its sentences ``(len(sentences), dimension)``."""

    passage: EvidencePassage
    vectors: Vectors


class CandidateSet:
    """The candidates of one question laid out flat: where each sentence stands, and which question terms it holds."""

    def __init__(self, question: Question, candidates: Sequence[EmbeddedPassage]) -> None:
        self.question = read_signals(question.text)
        self.expected = expected_answer(question.text)
        self.sentences = [read_signals(text) for candidate in candidates for text in candidate.passage.sentences]
        sizes = np.array([len(candidate.passage.sentences) for candidate in candidates])
        self.starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.passage = np.repeat(np.arange(len(sizes)), sizes)
        self.position = np.arange(len(self.sentences)) - self.starts[self.passage]
        self._above = _above(candidates, self.starts)
        self.vectors: Vectors = np.vstack([candidate.vectors for candidate in candidates])
        self.question_vector = question.vector
        self.contexts = [read_signals(candidate.passage.context) for candidate in candidates]
        terms = sorted(self.question.stems)
        self.holds = _holds(self.sentences, terms)
        self.context_holds = _holds(self.contexts, terms)
        self.term_shares = _term_shares(self.holds)

    def above(self, rows: NDArray[_Float]) -> NDArray[_Float]:
        """For each sentence the row of the one that it is read under, its lead-in or else the one before it; zeros
        where it is the first of its passage."""
        taken: NDArray[_Float] = rows[self._above]
        taken[self._above == _NONE] = 0
        return taken

    def count(self, signals: Sequence[frozenset[str]], known: frozenset[str]) -> Matrix:
        """How many of each sentence's ``signals`` the question does not already hold."""
        return np.array([len(found - known) for found in signals], dtype=np.float64)


def sentence_features(candidates: CandidateSet) -> dict[str, Matrix]:
    """The columns by name, each ``(sentences,)``."""
    return {
        **_meaning(candidates),
        **_overlap(candidates),
        **_answer_type(candidates),
        **_form(candidates),
    }


def passage_features(c: CandidateSet, sentences: Mapping[str, Matrix], scores: Matrix) -> dict[str, Matrix]:
    """Columns ``(passages,)`` out of the sentence columns and the sentence model's ``scores``."""
    best = np.maximum.reduceat(scores, c.starts)
    return {
        "best_score": best,
        "best_score_gap": best - best.max(),
        "best_cosine": np.maximum.reduceat(sentences["cosine"], c.starts),
        "best_coverage": np.maximum.reduceat(sentences["coverage_in_context"], c.starts),
        "log_sentences": np.log1p(np.bincount(c.passage)),
        **{name: sentences[name][c.starts] for name in _OF_PASSAGES},
    }


def _meaning(c: CandidateSet) -> dict[str, Matrix]:
    cosine = (c.vectors @ c.question_vector).astype(np.float64)
    centroid = _unit(np.add.reduceat(c.vectors, c.starts, axis=0))
    passage = (centroid @ c.question_vector).astype(np.float64)
    best = np.maximum.reduceat(cosine, c.starts)
    window = _unit(c.vectors + np.float32(0.5) * c.above(c.vectors))
    return {
        "cosine": cosine,
        "cosine_gap": cosine - cosine.max(),
        "cosine_window": (window @ c.question_vector).astype(np.float64),
        "passage_cosine": passage[c.passage],
        "passage_cosine_gap": (passage - passage.max())[c.passage],
        "passage_best_gap": (best - best.max())[c.passage],
    }


def _overlap(c: CandidateSet) -> dict[str, Matrix]:
    titled = np.maximum(c.holds, c.context_holds[c.passage])
    window = np.maximum(titled, c.above(c.holds))
    whole = np.maximum.reduceat(titled, c.starts, axis=0) @ c.term_shares
    untitled = 1 - c.context_holds[c.passage]
    bigrams = c.question.bigrams
    return {
        "coverage": c.holds @ c.term_shares,
        "coverage_in_context": titled @ c.term_shares,
        "coverage_in_window": window @ c.term_shares,
        "coverage_beyond_context": _ratio((c.holds * untitled) @ c.term_shares, untitled @ c.term_shares),
        "passage_coverage": whole[c.passage],
        "passage_coverage_gap": (whole - whole.max())[c.passage],
        "bigrams": np.array([len(bigrams & s.bigrams) for s in c.sentences]) / max(1, len(bigrams)),
        "names_found": _share_found([s.stems for s in c.sentences], c.question.names),
    }


def _answer_type(c: CandidateSet) -> dict[str, Matrix]:
    names = c.count([s.names for s in c.sentences], c.question.stems)
    numbers = c.count([s.numbers for s in c.sentences], c.question.numbers)
    stems = c.count([s.stems for s in c.sentences], c.question.stems)

    def where(kind: ExpectedAnswer, shown: Callable[[], Sequence[bool] | NDArray[np.generic]]) -> Matrix:
        return np.asarray(shown(), dtype=np.float64) if c.expected is kind else np.zeros(len(c.sentences))

    return {
        "person_named": where(ExpectedAnswer.PERSON, lambda: names > 0),
        "person_names": where(ExpectedAnswer.PERSON, lambda: np.log1p(names)),
        "time_dated": where(ExpectedAnswer.TIME, lambda: [s.dated for s in c.sentences]),
        "time_numbered": where(ExpectedAnswer.TIME, lambda: numbers > 0),
        "quantity_numbered": where(ExpectedAnswer.QUANTITY, lambda: numbers > 0),
        "place_located": where(ExpectedAnswer.PLACE, lambda: [s.located for s in c.sentences]),
        "reason_given": where(ExpectedAnswer.REASON, lambda: [s.reasoned for s in c.sentences]),
        "new_words": np.log1p(stems),
        "nothing_new": (stems <= 1).astype(np.float64),
    }


def _form(c: CandidateSet) -> dict[str, Matrix]:
    length = np.array([s.word_count for s in c.sentences], dtype=np.float64)
    return {
        "log_length": np.log1p(length),
        "log_position": np.log1p(c.position),
        "log_rank": np.log1p(c.passage),
    }


def _above(candidates: Sequence[EmbeddedPassage], starts: NDArray[np.int_]) -> NDArray[np.int_]:
    """For each row that of its lead-in, or else the one before it in the passage, or else ``_NONE``."""
    rows: list[int] = []
    for candidate, start in zip(candidates, starts.tolist(), strict=True):
        count = len(candidate.passage.sentences)
        before = [_NONE, *range(start, start + count - 1)]
        lead_ins = candidate.passage.lead_ins or [None] * count
        rows += [row if lead_in is None else start + lead_in for row, lead_in in zip(before, lead_ins, strict=True)]
    return np.array(rows)


def _holds(texts: Sequence[SentenceSignals], terms: Sequence[str]) -> Matrix:
    held = [[term in text.stems for term in terms] for text in texts]
    return np.array(held, dtype=np.float64).reshape(len(texts), len(terms))


def _term_shares(holds: Matrix) -> Matrix:
    """Inverse document frequencies over the candidate sentences, made to sum to one."""
    total = holds.shape[0]
    frequency = holds.sum(axis=0)
    idf = np.log1p((total - frequency + 0.5) / (frequency + 0.5))
    return np.asarray(idf / max(float(idf.sum()), 1e-9))


def _share_found(found: Sequence[frozenset[str]], wanted: frozenset[str]) -> Matrix:
    return np.array([len(wanted & have) for have in found]) / max(1, len(wanted))


def _ratio(part: Matrix, whole: Matrix) -> Matrix:
    return np.where(whole > 0, part / np.maximum(whole, 1e-9), 1.0)


def _unit(rows: Vectors) -> Vectors:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)
