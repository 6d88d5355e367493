"""Support of claims by passages: quotes, contradictions, the shipped model."""

import hashlib
import json
from collections.abc import Sequence
from importlib import resources

import numpy as np
import pytest

from citeloop.models.embedder import Embedder, Vectors
from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.verification.evidence.features import FEATURES
from citeloop.verification.evidence.quotes import find_quote
from citeloop.verification.evidence.support import (
    CONTRADICTED_SUPPORT,
    QUOTE_SUPPORT,
    ClaimEvidence,
    Support,
    SupportScorer,
)

SUPPORTED_FROM = 0.7
WEIGHTS_SHA256 = "e4843468c88cb974959255e98e52d2ac66baa61b0926680f3a8a27a44767c14a"

MUSEUM = (
    "The Harbour Museum opened in 1989 in a former rope factory. It was founded by Marta Lindqvist, a retired ship "
    "pilot. The museum shows forty model boats and attracts more than 12,000 visitors a year. Photography is not "
    "allowed in the east wing."
)
GARDEN = "The town garden is open all year. Roses are pruned in March, and the hedges in late summer."


class CountingEmbedder:
    """Bags of hashed words; remembers what it was asked."""

    model_id = "bag"
    dimension = 64

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        vectors = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, int(hashlib.md5(word.encode()).hexdigest(), 16) % self.dimension] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def scorer(onnx_embedder: OnnxEmbedder) -> SupportScorer:
    return SupportScorer(MemoizedEmbedder(onnx_embedder))


@pytest.mark.parametrize(
    "quote",
    [
        "It was founded by Marta Lindqvist, a retired ship pilot.",
        "it was founded by   marta lindqvist, a retired ship\npilot",
        "“It was founded by Marta Lindqvist, a retired ship pilot.”",
        "It was found\u00aded by **Marta Lindqvist**, a retired ship pilot.",
        "It was founded by Marta Lindqvist, a retired ship pilot.[3]",
        "opened in 1989 in a former rope factory",
        "Photography is not allowed in the east wing. The Harbour Museum opened in 1989 in a former rope factory.",
    ],
)
def test_a_quote_is_found_whatever_its_typography(quote: str) -> None:
    assert find_quote(quote, MUSEUM) is not None


def test_ligatures_dashes_and_accents_are_one_text() -> None:
    passage = "The o\ufb03ce is open 9\u201317 o\u2019clock, caf\u00e9 included."
    span = find_quote("the office is open 9-17 o'clock, cafe\u0301 included", passage)
    assert span is not None
    assert passage[span.start : span.end] == passage[:-1]


@pytest.mark.parametrize(
    "text",
    [
        "It was founded by Marta Lindqvist, a ship pilot.",
        "useum opened in 1989 in a former rope fact",
        "a retired ship",
        "allowed in the east wing of",
        "The Harbour Museum opened in 1989 in a former rope factory. It is free.",
        "",
    ],
)
def test_what_does_not_stand_there_is_no_quote(text: str) -> None:
    assert find_quote(text, MUSEUM) is None


def test_a_fragment_that_its_sentence_turns_around_is_no_quote() -> None:
    passage = "It is not true that employees may carry over all their leave."
    assert find_quote("employees may carry over all their leave", passage) is None
    assert find_quote("It is not true that employees may carry over all their leave", passage) is not None


def test_a_quoted_claim_costs_no_embedding_and_tells_its_place() -> None:
    embedder = CountingEmbedder()
    claim = "Roses are pruned in March, and the hedges in late summer. [2]"
    support = SupportScorer(embedder).score(claim, [MUSEUM, GARDEN])
    assert (support.score, support.passage_index, support.method) == (QUOTE_SUPPORT, 1, "quote")
    assert support.source_span is not None
    assert GARDEN[slice(*support.source_span)].startswith("Roses are pruned")
    assert embedder.calls == []


def test_a_batch_embeds_once_and_each_text_once() -> None:
    embedder = CountingEmbedder()
    pairs = [
        ClaimEvidence("The garden never closes.", (GARDEN,)),
        ClaimEvidence("Roses are cut in spring.", (GARDEN, MUSEUM)),
        ClaimEvidence("The garden never closes.", (MUSEUM,)),
    ]
    supports = SupportScorer(embedder).score_batch(pairs)
    assert [support.method for support in supports] == ["model"] * 3
    (texts,) = embedder.calls
    assert len(texts) == len(set(texts)) == 8


def test_nothing_to_compare_is_no_support() -> None:
    scorer = SupportScorer(CountingEmbedder())
    assert scorer.score("The garden is open.", []) == Support(0.0)
    assert scorer.score("The garden is open.", ["  \n"]) == Support(0.0)
    assert scorer.score(" [1] ", [GARDEN]) == Support(0.0)
    assert scorer.score_batch([]) == []


SUPPORTED = [
    "The Harbour Museum was opened in 1989.",
    "Marta Lindqvist, a retired ship pilot, founded the museum.",
    "The museum attracts over 12000 visitors every year.",
    "The museum shows 40 model boats.",
    "Photography isn't allowed in the museum's east wing.",
]


@pytest.mark.parametrize("claim", SUPPORTED)
def test_a_rewording_is_supported(scorer: SupportScorer, claim: str) -> None:
    assert scorer.score(claim, [MUSEUM]).score >= SUPPORTED_FROM


@pytest.mark.parametrize(
    "claim",
    [
        "The Harbour Museum opened in 1999 in a former rope factory.",
        "The museum shows thirty model boats.",
        "The museum attracts more than 15,000 visitors a year.",
        "It was founded by Greta Halvorsen, a retired ship pilot.",
        "Photography is allowed in the east wing.",
        "Photography is not allowed in the west wing.",
        "The museum attracts less than 12,000 visitors a year.",
        "The Harbour Museum was not opened in 1989.",
        "The museum sells tickets for boat tours around the islands.",
        "Roses are pruned in March.",
    ],
)
def test_a_contradiction_or_an_invention_is_not_supported(scorer: SupportScorer, claim: str) -> None:
    assert scorer.score(claim, [MUSEUM]).score < SUPPORTED_FROM


def test_the_sentence_that_supports_best_is_told(scorer: SupportScorer) -> None:
    support = scorer.score("A retired pilot of ships, Marta Lindqvist, was the founder.", [GARDEN, MUSEUM])
    assert support.passage_index == 1
    assert support.source_span is not None
    assert MUSEUM[slice(*support.source_span)] == "It was founded by Marta Lindqvist, a retired ship pilot."


def test_a_title_may_name_what_the_passage_does_not(scorer: SupportScorer) -> None:
    claim, passage = "The Harbour Museum is closed on Mondays.", "It is closed on Mondays and public holidays."
    assert scorer.score(claim, [passage], "Harbour Museum").score > scorer.score(claim, [passage]).score


def test_the_shipped_weights_are_the_ones_that_were_scored() -> None:
    data = (resources.files("citeloop.verification.evidence") / "support_weights.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == WEIGHTS_SHA256
    weights = json.loads(data)
    assert tuple(weights["coefficients"]) == FEATURES
    assert weights["made_by"] == "benchmarks/train_support.py"
    assert weights["coefficients"]["conflict"] < 0


def test_the_scorer_takes_any_embedder() -> None:
    embedder: Embedder = CountingEmbedder()
    score = SupportScorer(embedder).score("The garden opens late.", [GARDEN]).score
    assert score == pytest.approx(0.3374, abs=1e-3)


def test_a_number_that_the_source_has_otherwise_is_never_supported(scorer: SupportScorer) -> None:
    row = "| Parking permits | 3 years | Facilities |"
    told = scorer.score("Parking permits are valid for 30 years.", [row])
    assert told.score <= CONTRADICTED_SUPPORT < 0.7
