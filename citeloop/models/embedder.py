"""What the rest of citeloop knows of an embedding model."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. Thread-safe. Blocking: call it from a worker thread, never in the event loop."""

    @property
    def model_id(self) -> str:
        """Name that a store remembers: the same id means the same vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape ``(len(texts), dimension)``, in the order of ``texts``."""


class SentenceVectorCache(Protocol):
    """An embedder that can be told vectors it would otherwise compute (see ``MemoizedEmbedder``)."""

    def prime(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Remember ``vectors[i]`` as the embedding of ``texts[i]``."""
