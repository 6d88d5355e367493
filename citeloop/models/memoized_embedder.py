"""An embedder that remembers: the same text is embedded once."""

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citeloop.fork import call_after_fork
from citeloop.models.embedder import Embedder, Vectors


class CacheInfo(NamedTuple):
    """Counts of a cache, as ``functools.lru_cache`` tells them; a text that waits for another call is a hit."""

    hits: int
    misses: int
    maxsize: int
    currsize: int


class MemoizedEmbedder:
    """Least-recently-used cache of vectors by text, over another embedder. Thread-safe, and usable
    after a fork.

    A text that several threads ask for at once is computed by the first of them; the others wait, and share its
    failure. Each result is a fresh array: writing to it changes nothing here. 20,000 vectors of 384 take 31 MB.
    """

    def __init__(self, inner: Embedder, max_texts: int = 20_000) -> None:
        self._inner = inner
        self._max_texts = max_texts
        self._known: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._pending: dict[str, Future[NDArray[np.float32]]] = {}
        self._lock = Lock()
        self._hits = 0
        self._misses = 0
        call_after_fork(self._forget_other_threads)

    @property
    def model_id(self) -> str:
        """Of the inner embedder."""
        return self._inner.model_id

    @property
    def dimension(self) -> int:
        """Of the inner embedder."""
        return self._inner.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape ``(len(texts), dimension)``, in the order of ``texts``."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._lock:
            results, mine = self._claim(texts)
        if mine:
            self._compute(mine, results)
        return np.stack([results[text].result() for text in texts])

    def prime(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Remember ``vectors[i]`` as the embedding of ``texts[i]``; ValueError when their numbers differ."""
        with self._lock:
            self._remember(texts, vectors)

    def cache_info(self) -> CacheInfo:
        """Hits, misses, capacity and texts held."""
        with self._lock:
            return CacheInfo(self._hits, self._misses, self._max_texts, len(self._known))

    def _forget_other_threads(self) -> None:
        """In a forked child nobody lives who would release the lock or settle what is pending."""
        self._lock = Lock()
        self._pending = {}

    def _claim(self, texts: Sequence[str]) -> tuple[dict[str, Future[NDArray[np.float32]]], list[str]]:
        """A future for each distinct text, and those texts that this call has to compute. Needs the lock."""
        results: dict[str, Future[NDArray[np.float32]]] = {}
        mine = []
        for text in dict.fromkeys(texts):
            if text in self._known:
                self._known.move_to_end(text)
                results[text] = _resolved(self._known[text])
            elif text in self._pending:
                results[text] = self._pending[text]
            else:
                results[text] = self._pending[text] = Future()
                mine.append(text)
        self._misses += len(mine)
        self._hits += len(texts) - len(mine)
        return results, mine

    def _compute(self, mine: list[str], results: dict[str, Future[NDArray[np.float32]]]) -> None:
        try:
            vectors = self._inner.embed(mine)
        except BaseException as error:
            self._settle(mine)
            for text in mine:
                results[text].set_exception(error)
            raise
        self._settle(mine, vectors)
        for text, vector in zip(mine, vectors, strict=True):
            results[text].set_result(vector)

    def _settle(self, mine: list[str], vectors: Vectors | None = None) -> None:
        with self._lock:
            for text in mine:
                self._pending.pop(text, None)  # not there in a child forked meanwhile
            if vectors is not None:
                self._remember(mine, vectors)

    def _remember(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Needs the lock. Rows are copied: a view would keep its whole batch alive, and be the caller's to change."""
        for text, vector in zip(texts, vectors, strict=True):
            self._known[text] = np.array(vector, dtype=np.float32)
            self._known.move_to_end(text)
        while len(self._known) > self._max_texts:
            self._known.popitem(last=False)


def _resolved(vector: NDArray[np.float32]) -> Future[NDArray[np.float32]]:
    future: Future[NDArray[np.float32]] = Future()
    future.set_result(vector)
    return future
