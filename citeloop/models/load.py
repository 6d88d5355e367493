"""Which embedder the settings ask for."""

from citeloop.errors import WeightsNotFound
from citeloop.models.embedder import Embedder
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.models.sentence_transformer_embedder import SentenceTransformerEmbedder, canonical_model_id
from citeloop.models.weights import MINILM, MINILM_ONNX
from citeloop.settings import Settings


def load_embedder(settings: Settings) -> Embedder:
    """The embedder that ``settings`` name, loaded. Raises WeightsNotFound with the way out.

    ``auto`` takes the ONNX path where its carried weights are the model wanted and are installed, sentence-transformers
    otherwise. Blocking (0.1 s by ONNX, seconds by torch): call it from a worker thread.
    """
    is_minilm = canonical_model_id(settings.embedding_model) == MINILM
    if settings.embedding_backend == "onnx" and not is_minilm:
        raise WeightsNotFound(
            f"there are no ONNX weights for {settings.embedding_model!r}, only for {MINILM}; "
            "set CITELOOP_EMBEDDING_BACKEND=auto"
        )
    if is_minilm and _prefers_onnx(settings):
        return OnnxEmbedder(settings.threads)
    return SentenceTransformerEmbedder(settings.embedding_model, settings.threads, settings.model_downloads)


def _prefers_onnx(settings: Settings) -> bool:
    if settings.embedding_backend == "auto":
        return MINILM_ONNX.locate() is not None
    return settings.embedding_backend == "onnx"
