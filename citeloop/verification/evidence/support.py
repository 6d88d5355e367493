"""Support: the calibrated probability that passages say what a claim says."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal, Protocol

import numpy as np

from citeloop.models.embedder import Embedder, Vectors
from citeloop.text.sentences import Span
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.evidence.contradictions import find_contradiction
from citeloop.verification.evidence.features import FEATURES, Sentence, evidence_sentences, match_claim
from citeloop.verification.evidence.missing import missing_terms
from citeloop.verification.evidence.quotes import find_quote
from citeloop.verification.evidence.traits import read_traits

SupportMethod = Literal["quote", "model", "words", "nli", "judge", "none"]

QUOTE_SUPPORT = 0.99
"""Support of a claim that stands verbatim in a passage."""

CONTRADICTED_SUPPORT = 0.6
"""The most that a claim gets that says otherwise than its evidence: never supported at 0.7."""


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """A claim and the passages, taken together, that should say it."""

    claim: str
    """Its citation markers, if it has any, are no part of what it says."""
    passages: tuple[str, ...]
    context: str = ""
    """Titles and headings of the passages: may name what the passages only call "it"."""


@dataclass(frozen=True, slots=True)
class Support:
    """How well the passages support the claim, and the place that supports it best."""

    score: float
    """Calibrated probability, in [0, 1]."""
    passage_index: int | None = None
    source_span: Span | None = None
    """Characters of the best place in ``passages[passage_index]``."""
    method: SupportMethod = "none"
    """``quote``: it stands there verbatim. ``model``: weighed. ``words``: its words were counted. ``nli``, ``judge``:
    the cross-encoder or the chat model judged it. ``none``: there was nothing to compare."""
    missing: tuple[str, ...] = ()
    """Numbers, dates and names of the claim that the passages do not hold, as the claim writes them."""
    conflict: str = ""
    """What the passages say instead, in words; empty where they do not say otherwise."""
    judge_failure: str = ""
    """Why the judge that should have decided did not; the score is the offline one then."""


@dataclass(frozen=True, slots=True)
class SupportModel:
    """Logistic regression over ``FEATURES``."""

    intercept: float
    coefficients: tuple[float, ...]

    @classmethod
    def from_mapping(cls, intercept: float, coefficients: Mapping[str, float]) -> "SupportModel":
        """Put named coefficients into the order of ``FEATURES``."""
        return cls(intercept, tuple(coefficients[name] for name in FEATURES))

    def probability(self, features: Sequence[float]) -> float:
        """Probability of support for one feature vector."""
        logit = self.intercept + math.fsum(c * x for c, x in zip(self.coefficients, features, strict=True))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))


@lru_cache(maxsize=1)
def shipped_support_model() -> SupportModel:
    """The model in ``support_weights.json``; that file says how it was made and what it scored."""
    weights = json.loads((resources.files(__package__) / "support_weights.json").read_text("utf-8"))
    return SupportModel.from_mapping(weights["intercept"], weights["coefficients"])


class ClaimScorer(Protocol):
    """Says how well passages support claims."""

    def score_batch(self, pairs: Sequence[ClaimEvidence]) -> list[Support]:
        """Support of each pair, in order."""


class SupportScorer:
    """Scores claims against passages: a verbatim check first, then the model. Blocking; thread-safe."""

    def __init__(self, embedder: Embedder, model: SupportModel | None = None) -> None:
        """``embedder`` should remember vectors, so that sentences of stored passages cost nothing."""
        self._embedder = embedder
        self._model = model or shipped_support_model()

    def score(self, claim: str, passages: Sequence[str], context: str = "") -> Support:
        """Support of one claim by ``passages`` taken together."""
        return self.score_batch([ClaimEvidence(claim, tuple(passages), context)])[0]

    def score_batch(self, pairs: Sequence[ClaimEvidence]) -> list[Support]:
        """Support of each pair, in order; all that needs embedding goes through the embedder in one call."""
        prepared = [_prepare(pair) for pair in pairs]
        open_ones = [item for item in prepared if isinstance(item, _Comparison)]
        texts = list(dict.fromkeys(text for item in open_ones for text in (item.claim, *item.texts)))
        vectors = self._embedder.embed(texts) if texts else np.empty((0, self._embedder.dimension), np.float32)
        rows = {text: row for row, text in enumerate(texts)}
        return [item if isinstance(item, Support) else self._weigh(item, vectors, rows) for item in prepared]

    def _weigh(self, comparison: "_Comparison", vectors: Vectors, rows: Mapping[str, int]) -> Support:
        context = read_traits(comparison.context)
        traits = [read_traits(text) for text in comparison.texts]
        match = match_claim(
            read_traits(comparison.claim),
            vectors[rows[comparison.claim]],
            traits,
            vectors[[rows[text] for text in comparison.texts]],
            context,
        )
        best = comparison.sentences[match.best]
        against = find_contradiction(comparison.claim, best.text, comparison.texts, context)
        score = self._model.probability(match.features)
        return Support(
            min(score, CONTRADICTED_SUPPORT) if against else score,
            best.passage,
            best.span,
            "model",
            missing_terms(comparison.claim, [context, *traits]),
            against.told if against else "",
        )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """A claim that stands nowhere verbatim, with the sentences to compare it with."""

    claim: str
    context: str
    sentences: list[Sentence]
    texts: list[str]


def _prepare(pair: ClaimEvidence) -> "Support | _Comparison":
    claim = parse_citations(pair.claim, {}).text.strip()
    for index, passage in enumerate(pair.passages):
        if span := find_quote(claim, passage):
            return Support(QUOTE_SUPPORT, index, span, "quote")
    sentences = evidence_sentences(pair.passages)
    if not claim or not sentences:
        return Support(0.0)
    return _Comparison(claim, pair.context, sentences, [sentence.text for sentence in sentences])
