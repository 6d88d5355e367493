"""The values that leave the knowledge store."""

from dataclasses import dataclass
from typing import NamedTuple

from citeloop.errors import InvalidRequest
from citeloop.models.embedder import Vectors
from citeloop.text.names import is_one_line
from citeloop.text.sentences import Span


@dataclass(frozen=True, slots=True)
class OpenCorpus:
    """A corpus opened for one caller: the capability that every index and every read asks for.

    Only ``HierarchicalKnowledgeStore.open_corpus`` makes one, after asking the access policy. It never enters graph
    state: what was asked for is kept there by name, and is opened again, with the caller's identity, where it is read.
    """

    id: str
    name: str
    embedding_model: str
    dimension: int
    version: int
    """Grows with every change of the corpus: part of any cache key."""


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """What a listing of corpora shows."""

    name: str
    owner: str
    documents: int
    chunks: int
    relations: int
    """Typed relations that a chat model read in the chunks."""
    embedding_model: str
    version: int
    updated_at: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Somebody who may read a corpus that is another's."""

    principal: str
    """``user:<id>``, ``group:<name>`` or ``everyone``."""
    granted_at: str
    """ISO 8601, UTC."""
    granted_by: str
    """Id of the user who did."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document: ``document_text[start:end] == text``, in characters."""

    id: str
    corpus: str
    document_id: str
    section_id: str
    position: int
    """Ordinal among the chunks of its document, from 0."""
    title: str
    uri: str
    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ChunkSentences:
    """The sentences of a chunk, as offsets in the chunk's text, with unit vectors ``(len(spans), dimension)``."""

    spans: tuple[Span, ...]
    vectors: Vectors


class Hit(NamedTuple):
    """One search result. ``score`` grows with relevance (a cosine, a BM25 score: never a distance)."""

    chunk_id: str
    score: float


def require_corpus_name(name: str) -> None:
    """Raise ``InvalidRequest`` for a name that no corpus can have."""
    if not name.strip():
        raise InvalidRequest("the name of a corpus cannot be blank; give it one")
    if not is_one_line(name):
        raise InvalidRequest(
            f"{name!r} cannot be the name of a corpus: it holds control characters, or bytes of no text"
        )
