"""all-MiniLM-L6-v2 by ONNX Runtime: the fast path, without torch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from citeloop.fork import call_before_fork
from citeloop.models.embedder import Vectors
from citeloop.models.weights import MINILM, MINILM_ONNX

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

_DIMENSION = 384
_MAX_WORD_PIECES = 256  # sentence-transformers' max_seq_length for this model

_BATCH_WORD_PIECES = 1024
"""Padded size of a batch. Measured on one core's time: sentences 55 texts/s one by one, 73 at 128, 83 at 1024 and 2048,
72 at 4096 (out of cache). Batches hold texts of like length, so hardly any of it is padding."""


class OnnxEmbedder:
    """Embeds by the carried ONNX weights: mean over word pieces, normalised, cut at 256 word pieces.

    ``threads`` is the number of cores that one call may use. Thread-safe, and usable after a fork. Raises
    WeightsNotFound when the weights are absent or altered.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._folder = MINILM_ONNX.require()
        with ThreadPoolExecutor(max_workers=1) as hashing:
            verdict = hashing.submit(MINILM_ONNX.verify, self._folder)
            try:
                self._tokenizer = _load_tokenizer(self._folder)
                self._loaded: InferenceSession | None = _load_session(self._folder, threads)
            finally:
                verdict.result()  # altered files: this is the error, whatever a loader made of them
        call_before_fork(self._let_go)

    @property
    def model_id(self) -> str:
        """The model's name: the same weights by sentence-transformers have the same vectors and the same id."""
        return MINILM

    @property
    def dimension(self) -> int:
        """384."""
        return _DIMENSION

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape ``(len(texts), 384)``, in the order of ``texts``."""
        vectors = np.empty((len(texts), _DIMENSION), dtype=np.float32)
        encodings = [self._tokenizer.encode(text) for text in texts]
        session = self._session()
        for rows in _batches([len(encoding) for encoding in encodings]):
            vectors[rows] = _run(session, [encodings[row] for row in rows])
        return vectors

    def _session(self) -> InferenceSession:
        session = self._loaded
        if session is None:
            session = self._loaded = _load_session(self._folder, self._threads)
        return session

    def _let_go(self) -> None:
        """A session's threads do not survive a fork: in the child its next call, or its destructor, would hang."""
        self._loaded = None


def _load_tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()  # the file pads every text to 128
    tokenizer.enable_truncation(_MAX_WORD_PIECES)
    return tokenizer


def _load_session(folder: Path, threads: int) -> InferenceSession:
    # Official builds since 1.29 report sessions to their maker, by a thread that starts at import and on which a forked
    # child hangs when it exits. The variable stops both; the call is for builds that do not read it.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Waiting threads sleep. Spinning, two threads took a third more CPU for a batch and twice as long for a query on a
    # machine with other work to do.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(folder / "onnx" / "model.onnx", options, providers=["CPUExecutionProvider"])


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of texts, longest first, cut so that a batch padded to its first text stays within the budget."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > _BATCH_WORD_PIECES:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _run(session: InferenceSession, encodings: Sequence[Encoding]) -> Vectors:
    """Unit vectors of one batch whose first text is its longest."""
    word_pieces = np.zeros((len(encodings), len(encodings[0])), dtype=np.int64)
    mask = np.zeros_like(word_pieces)
    for row, encoding in enumerate(encodings):
        word_pieces[row, : len(encoding)] = encoding.ids
        mask[row, : len(encoding)] = 1
    inputs = {"input_ids": word_pieces, "attention_mask": mask, "token_type_ids": np.zeros_like(word_pieces)}
    (hidden,) = session.run(["last_hidden_state"], inputs)
    sums: Vectors = np.einsum("bld,bl->bd", hidden, mask.astype(np.float32))
    norms: Vectors = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.divide(sums, norms)  # normalising makes the mean's divisor void
