"""Features of an answer: do these sentences answer this question, or another that only looks like it?

A near miss is about the right thing and still no answer: what is asked for is another year, another person, the
opposite. So most features tell what the question says and the sentences do not, or say otherwise. All are read off the
question and what is quoted, so a draft of any model can be scored as well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

import numpy as np

from citeloop.models.embedder import Vectors
from citeloop.retrieval.relevance_features import EmbeddedPassage, Matrix, Question
from citeloop.retrieval.sentence_signals import SentenceSignals, read_signals
from citeloop.text.polarity import have_opposites, negated_words
from citeloop.text.words import STOPWORDS, stem, words

_QUESTION_WORD = frozenset("what which who whom whose when where why how".split())
_BEFORE_THE_KIND = frozenset("a the many much".split())
_WORDS_OF_A_KIND = 2
_RIDGE = np.float32(0.05)


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """What an answer has to take up."""

    signals: SentenceSignals
    kind: frozenset[str]
    """Stems of what the question word asks for (the "treaty" of "which treaty"): an answer may name one instead."""
    names: frozenset[str]
    """Stems of names; a capital at the beginning makes none."""
    negated: frozenset[str]
    vocabulary: frozenset[str]
    """The stems of all words, stop words too."""

    @property
    def terms(self) -> frozenset[str]:
        """Stems that an answer has to take up."""
        return self.signals.stems - self.kind


@dataclass(frozen=True, slots=True)
class _Quote:
    signals: SentenceSignals
    held: frozenset[str]
    """Stems of the sentence and of what stands over it."""
    negated: frozenset[str]
    vocabulary: frozenset[str]


@lru_cache(maxsize=1_024)
def read_question(text: str) -> QuestionReading:
    """The question taken apart."""
    signals, said = read_signals(text), words(text)
    return QuestionReading(
        signals=signals,
        kind=_kind(said),
        names=signals.names - {stem(word) for word in said[:1]},
        negated=frozenset(map(stem, negated_words(said))),
        vocabulary=frozenset(map(stem, said)),
    )


def answer_features(question: Question, evidence: Sequence[EmbeddedPassage]) -> dict[str, Matrix]:
    """Columns ``(1,)`` for the sentences of ``evidence`` as an answer; there is at least one sentence."""
    asked = read_question(question.text)
    quotes = [_read_quote(text, one.passage.context) for one in evidence for text in one.passage.sentences]
    fullest = max(quotes, key=lambda quote: len(asked.terms & quote.held))
    vectors = np.vstack([one.vectors for one in evidence])
    features = {
        **_closeness(question.vector, vectors),
        **_missing(asked, quotes),
        **_turned_around(asked, quotes, fullest),
    }
    return {name: np.array([value], dtype=np.float64) for name, value in features.items()}


def _read_quote(text: str, context: str) -> _Quote:
    signals, said = read_signals(text), words(text)
    return _Quote(
        signals=signals,
        held=signals.stems | read_signals(context).stems,
        negated=frozenset(map(stem, negated_words(said))),
        vocabulary=frozenset(map(stem, said)),
    )


def _kind(said: Sequence[str]) -> frozenset[str]:
    at = next((index for index, word in enumerate(said) if word in _QUESTION_WORD), len(said))
    behind = list(takewhile(lambda word: word not in STOPWORDS or word in _BEFORE_THE_KIND, said[at + 1 :]))
    return frozenset([stem(word) for word in behind if word not in STOPWORDS][:_WORDS_OF_A_KIND])


def _closeness(question: Vectors, vectors: Vectors) -> dict[str, float]:
    """How near the sentences are, the best alone and all together (length of the projection onto their span)."""
    cosines = vectors @ question
    gram = vectors @ vectors.T + _RIDGE * np.eye(len(vectors), dtype=np.float32)
    together = float(cosines @ np.linalg.solve(gram, cosines))
    return {"cosine": float(cosines.max()), "projection": math.sqrt(max(0.0, together))}


def _missing(asked: QuestionReading, quotes: Sequence[_Quote]) -> dict[str, float]:
    """What of the question no sentence takes up, and whether something of its kind stands in its place: of all of them
    together, since a question in two parts has its answer in two sentences."""
    missing = asked.terms.difference(*(quote.held for quote in quotes))
    names, numbers = missing & asked.names, missing & asked.signals.numbers
    own = [quote.signals for quote in quotes]
    taken_up = asked.signals.bigrams & frozenset().union(*(signals.bigrams for signals in own))
    return {
        "missing_share": len(missing) / max(1, len(asked.terms)),
        "missing_names": min(2.0, len(names)),
        "missing_number": float(bool(numbers)),
        "other_name": float(bool(names) and any(signals.names - asked.signals.stems for signals in own)),
        "other_number": float(bool(numbers) and any(signals.numbers - asked.signals.numbers for signals in own)),
        "bigrams": len(taken_up) / max(1, len(asked.signals.bigrams)),
    }


def _turned_around(asked: QuestionReading, quotes: Sequence[_Quote], fullest: _Quote) -> dict[str, float]:
    """Negation and opposites on one side only."""
    turned = (asked.negated & fullest.vocabulary) | (fullest.negated & asked.vocabulary)
    return {
        "denied": float(bool(turned) and asked.negated.isdisjoint(fullest.negated)),
        "negated_alone": float(bool(asked.negated) and not any(quote.negated for quote in quotes)),
        "opposed": float(any(have_opposites(asked.vocabulary, quote.vocabulary) for quote in quotes)),
    }
