"""Reordering fused candidates by how well they answer the question."""

import logging
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from citeloop.errors import WeightsNotFound
from citeloop.knowledge.corpus import Chunk, ChunkSentences
from citeloop.models.cross_encoder import is_at_hand, load_cross_encoder
from citeloop.models.evidence import EvidencePassage, Scores
from citeloop.retrieval.relevance import RelevanceJudge
from citeloop.retrieval.relevance_features import EmbeddedPassage

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_log = logging.getLogger(__name__)


class Reranker(Protocol):
    """Scores candidates of one question. Thread-safe. Blocking: call it from a worker thread."""

    @property
    def name(self) -> str:
        """What the trace calls it."""

    def rerank(self, question: str, chunks: Sequence[Chunk], sentences: Mapping[str, ChunkSentences]) -> Scores:
        """A logit per chunk, in the order of ``chunks``: rank on it; ``relevance.probability`` makes it a grade.

        ``chunks`` stand in fused order, best first; ``sentences`` holds what is stored of them, by chunk id.
        """


class SentenceReranker:
    """The passage relevance model over the stored sentence vectors: embeds the question and nothing else."""

    name = "sentence-relevance"

    def __init__(self, judge: RelevanceJudge) -> None:
        self._judge = judge

    def rerank(self, question: str, chunks: Sequence[Chunk], sentences: Mapping[str, ChunkSentences]) -> Scores:
        """A logit per chunk; minus infinity for chunks without sentences."""
        cut = [bool(chunk.id in sentences and sentences[chunk.id].spans) for chunk in chunks]
        passages = [_embedded(chunk, sentences[chunk.id]) for chunk, has in zip(chunks, cut, strict=True) if has]
        scores = np.full(len(chunks), -np.inf)
        scores[cut] = self._judge.score_embedded(question, passages)
        return scores


class CrossEncoderReranker:
    """A cross-encoder of sentence-transformers (ADR-031, CrossEncoderReranker), loaded at first use.

    ``model_name`` is a folder or a name; a name is looked for on this machine, and at the model hub only with
    ``downloads``. Raises ``WeightsNotFound`` from ``rerank`` where the model cannot be loaded.
    """

    def __init__(self, model_name: str = "cross-encoder/ms-marco-MiniLM-L-12-v2", *, downloads: bool = False) -> None:
        self.name = model_name
        self._downloads = downloads
        self._lock = threading.Lock()
        self._model: CrossEncoder | None = None

    @property
    def is_at_hand(self) -> bool:
        """Whether library and weights are on this machine: a look at the disk, no import of torch, no network."""
        return is_at_hand(self.name)

    def rerank(self, question: str, chunks: Sequence[Chunk], sentences: Mapping[str, ChunkSentences]) -> Scores:
        """The model's raw logits for question and chunk (title, headings, text)."""
        import torch

        if not chunks:
            return np.zeros(0)
        pairs = [(question, f"{context_of(chunk)}\n{chunk.text}") for chunk in chunks]
        with self._lock:  # one at a time: threads of torch and of its callers would fight over the cores
            logits = self._load().predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
        return np.asarray(logits, dtype=np.float64)

    def _load(self) -> "CrossEncoder":
        if self._model is None:
            self._model = load_cross_encoder(self.name, "reranker", downloads=self._downloads)
        return self._model


class FallbackReranker:
    """``first`` until it turns out not to load, from then on ``second``, which is said once in the log."""

    def __init__(self, first: Reranker, second: Reranker, *, try_first: bool = True) -> None:
        self._first, self._second = first, second
        self._current = first if try_first else second

    @property
    def name(self) -> str:
        """The name of the one in use."""
        return self._current.name

    def rerank(self, question: str, chunks: Sequence[Chunk], sentences: Mapping[str, ChunkSentences]) -> Scores:
        """The scores of the one in use."""
        if self._current is self._first:
            try:
                return self._first.rerank(question, chunks, sentences)
            except (WeightsNotFound, ImportError):
                self._current = self._second
        say_fallback_once(self._first.name, self._second.name)
        return self._second.rerank(question, chunks, sentences)


def load_reranker(model_name: str, judge: RelevanceJudge, *, downloads: bool = False) -> Reranker:
    """The cross-encoder ``model_name`` where it can be had, else the sentence reranker.

    Quick: nothing is loaded here. With ``downloads``, the model hub is asked at the first question.
    """
    cross_encoder = CrossEncoderReranker(model_name, downloads=downloads)
    return FallbackReranker(cross_encoder, SentenceReranker(judge), try_first=downloads or cross_encoder.is_at_hand)


@cache
def say_fallback_once(wanted: str, used: str) -> None:
    """One log line per process and model; ``citeloop index`` says it to people."""
    _log.info("the reranker %s is not on this machine: candidates are reranked by %s", wanted, used)


def context_of(chunk: Chunk) -> str:
    """Title and headings of a chunk, as the relevance models see them."""
    return " > ".join(dict.fromkeys((chunk.title, *chunk.heading_path)))


def _embedded(chunk: Chunk, stored: ChunkSentences) -> EmbeddedPassage:
    texts = tuple(chunk.text[start:end] for start, end in stored.spans)
    return EmbeddedPassage(EvidencePassage(context_of(chunk), texts), stored.vectors)
