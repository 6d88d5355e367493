"""Vectors for the chunks and sentences of many documents at once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from citeloop.errors import EmbeddingMismatch
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.pieces import DocumentPieces
from citeloop.models.embedder import Embedder, Vectors

_TEXTS_PER_CALL = 2048
"""Enough for the embedder to sort by length; bounds what a single huge document holds in memory at a time."""


@dataclass(frozen=True, slots=True)
class EmbeddedDocument:
    """A document ready to be stored."""

    pieces: DocumentPieces
    chunk_vectors: Sequence[Vectors]
    """Per chunk ``(dimension,)``"""
    sentence_vectors: Sequence[Sequence[Vectors]]
    """Per chunk and sentence ``(dimension,)``"""


def embed_documents(
    documents: Sequence[DocumentPieces], embedder: Embedder, on_share: Callable[[float], None]
) -> list[EmbeddedDocument]:
    """Embed all chunks and sentences, texts that repeat once; ``on_share`` is told the share done, in (0, 1]."""
    texts = [text for pieces in documents for text in (*pieces.chunk_texts(), *pieces.sentence_texts())]
    rows = iter(_embed_unique(texts, embedder, on_share))
    return [_take(rows, pieces) for pieces in documents]


def require_embedding_model(corpus: OpenCorpus, embedder: Embedder) -> None:
    """See to it that vectors of ``embedder`` can be compared with those of the corpus.

    Raises:
        EmbeddingMismatch: they come from different models, also where the dimensions happen to agree.
    """
    if (corpus.embedding_model, corpus.dimension) != (embedder.model_id, embedder.dimension):
        raise EmbeddingMismatch(
            f"corpus {corpus.name!r} was filled by {corpus.embedding_model} ({corpus.dimension} dimensions), not by "
            f"{embedder.model_id} ({embedder.dimension}); set CITELOOP_EMBEDDING_MODEL={corpus.embedding_model}, "
            "or index the documents into a new corpus"
        )


def _embed_unique(texts: Sequence[str], embedder: Embedder, on_share: Callable[[float], None]) -> Iterator[Vectors]:
    """The vector of each text, in order."""
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    unique = list(rows)
    vectors = np.empty((len(unique), embedder.dimension), np.float32)
    for start in range(0, len(unique), _TEXTS_PER_CALL):
        part = unique[start : start + _TEXTS_PER_CALL]
        vectors[start : start + len(part)] = embedder.embed(part)
        on_share((start + len(part)) / len(unique))
    return (vectors[rows[text]] for text in texts)


def _take(rows: Iterator[Vectors], pieces: DocumentPieces) -> EmbeddedDocument:
    """The next rows, in the order in which the texts of ``pieces`` went in."""
    chunk_vectors = list(islice(rows, len(pieces.chunks)))
    sentence_vectors = [list(islice(rows, len(spans))) for spans in pieces.sentences]
    return EmbeddedDocument(pieces, chunk_vectors, sentence_vectors)
