"""Reranking with what is at hand."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from citeloop.errors import WeightsNotFound
from citeloop.knowledge.corpus import Chunk, ChunkSentences
from citeloop.models import cross_encoder
from citeloop.models.embedder import Vectors
from citeloop.models.evidence import Scores
from citeloop.retrieval import rerank
from citeloop.retrieval.relevance import RelevanceJudge
from citeloop.retrieval.rerank import CrossEncoderReranker, FallbackReranker, SentenceReranker, load_reranker
from citeloop.text.sentences import Span

TEXTS = ("Rye bread keeps for a week.", "Ada Lindqvist designed the lighthouse.")
AXES = {TEXTS[0]: 0, TEXTS[1]: 1, "Who designed the lighthouse?": 1}


class Axes:
    """An embedder that knows three texts, and records what it is asked for."""

    model_id = "axes"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.eye(2, dtype=np.float32)[[AXES[text] for text in texts]]


def _chunk(number: int, text: str) -> Chunk:
    return Chunk(
        id=f"c{number}",
        corpus="notes",
        document_id="d",
        section_id="s",
        position=number,
        title="Notes",
        uri="notes.md",
        heading_path=(),
        text=text,
        start=0,
        end=len(text),
    )


CHUNKS = [_chunk(number, text) for number, text in enumerate(TEXTS)]
STORED = {
    chunk.id: ChunkSentences((Span(0, len(chunk.text)),), np.eye(2, dtype=np.float32)[[AXES[chunk.text]]])
    for chunk in CHUNKS
}


class Failing:
    """A reranker whose weights turn out to be missing."""

    name = "failing"
    calls = 0

    def rerank(self, question: str, chunks: Sequence[Chunk], sentences: Mapping[str, ChunkSentences]) -> Scores:
        self.calls += 1
        raise WeightsNotFound("no such model")


@pytest.fixture(autouse=True)
def nothing_said_yet() -> None:
    rerank.say_fallback_once.cache_clear()


def test_the_chunk_that_answers_scores_highest_and_only_the_question_is_embedded() -> None:
    embedder = Axes()
    scores = SentenceReranker(RelevanceJudge(embedder)).rerank("Who designed the lighthouse?", CHUNKS, STORED)
    assert scores.argmax() == 1
    assert embedder.asked == ["Who designed the lighthouse?"]


def test_chunks_without_sentences_come_last() -> None:
    chunks = [_chunk(7, ""), *CHUNKS]
    scores = SentenceReranker(RelevanceJudge(Axes())).rerank("Who designed the lighthouse?", chunks, STORED)
    assert scores[0] == -np.inf
    assert np.isfinite(scores[1:]).all()


def test_no_chunks_no_scores() -> None:
    assert SentenceReranker(RelevanceJudge(Axes())).rerank("Who designed the lighthouse?", [], {}).shape == (0,)


def test_an_absent_cross_encoder_is_told_once(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    judge = RelevanceJudge(Axes())
    wanted = str(tmp_path / "no-such-model")
    with caplog.at_level(logging.INFO):
        loaded = [load_reranker(wanted, judge) for _ in range(2)]
        assert caplog.records == [], "nothing is said before it matters"
        for reranker in [*loaded, *loaded]:
            reranker.rerank("Who designed the lighthouse?", CHUNKS, STORED)
    assert [reranker.name for reranker in loaded] == ["sentence-relevance"] * 2
    assert [record.message for record in caplog.records] == [
        f"the reranker {wanted} is not on this machine: candidates are reranked by sentence-relevance"
    ]


def test_without_the_library_nothing_is_at_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cross_encoder, "find_spec", lambda name: None)
    assert not CrossEncoderReranker(str(tmp_path)).is_at_hand


def test_with_downloads_the_cross_encoder_is_tried_at_the_first_question_and_no_more() -> None:
    failing = Failing()
    reranker = FallbackReranker(failing, SentenceReranker(RelevanceJudge(Axes())))
    assert reranker.name == "failing"
    for _ in range(2):
        assert reranker.rerank("Who designed the lighthouse?", CHUNKS, STORED).argmax() == 1
    assert failing.calls == 1
    assert reranker.name == "sentence-relevance"


def test_a_fallback_that_fails_too_is_an_error() -> None:
    with pytest.raises(WeightsNotFound):
        FallbackReranker(Failing(), Failing()).rerank("Who?", CHUNKS, STORED)
