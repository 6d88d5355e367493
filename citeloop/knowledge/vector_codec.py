"""How vectors and sentence offsets lie in the store's blobs.

Chunk vectors are float32: both search indexes are rebuilt from them. Sentence vectors are float16, half the size of the
store: the cosine of two unit vectors of 384 dimensions moves by 2e-5 on average, 9e-5 at the most (2,000 pairs).
"""

from collections.abc import Sequence

import numpy as np

from citeloop.knowledge.corpus import ChunkSentences
from citeloop.models.embedder import Vectors
from citeloop.text.sentences import Span

_CHUNK_DTYPE = "<f4"
_SENTENCE_DTYPE = "<f2"
_OFFSET_DTYPE = "<i4"


def encode_vector(vector: Vectors) -> bytes:
    """The blob of one chunk vector ``(dimension,)``."""
    return vector.astype(_CHUNK_DTYPE).tobytes()


def decode_vectors(blob: bytes, dimension: int) -> Vectors:
    """Chunk vectors ``(n, dimension)`` of ``n`` blobs joined."""
    return np.frombuffer(blob, _CHUNK_DTYPE).reshape(-1, dimension).astype(np.float32, copy=False)


def encode_sentences(spans: Sequence[Span], vectors: Sequence[Vectors]) -> tuple[bytes, bytes]:
    """The blobs of a chunk's sentences: offsets, and a vector ``(dimension,)`` for each."""
    return np.array(spans, _OFFSET_DTYPE).tobytes(), np.array(vectors, _SENTENCE_DTYPE).tobytes()


def decode_sentences(spans: bytes, vectors: bytes, dimension: int) -> ChunkSentences:
    """What ``encode_sentences`` was given, the vectors to half precision, as float32."""
    offsets = np.frombuffer(spans, _OFFSET_DTYPE).reshape(-1, 2).tolist()
    return ChunkSentences(
        spans=tuple(Span(start, end) for start, end in offsets),
        vectors=np.frombuffer(vectors, _SENTENCE_DTYPE).reshape(-1, dimension).astype(np.float32),
    )
