"""Writes to the knowledge store. Every change of a chunk is noted in the journal of the search indexes with it."""

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.embedding import EmbeddedDocument
from citeloop.knowledge.entity_writer import EntityWriter
from citeloop.knowledge.store_file import transaction
from citeloop.knowledge.vector_codec import encode_sentences, encode_vector

_CORPUS_NAMES = uuid5(NAMESPACE_URL, "citeloop:corpus")


class KnownDocument(NamedTuple):
    """What the indexer must know of a stored document to skip, replace or remove it."""

    id: str
    content_hash: str
    source_file: str


class StoreWriter:
    """The changes a writer makes, each method one transaction that leaves the store whole.

    Ids are UUIDv5 of names: corpus of its name, document of corpus and uri, section and chunk of document and position.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._entities = EntityWriter(connection)

    def holds_corpus(self, name: str) -> bool:
        """Whether there is a corpus of that name, whoever may open it."""
        found = self._connection.execute("SELECT 1 FROM corpora WHERE name = ?", (name,)).fetchone()
        return found is not None

    def create_corpus(self, name: str, owner: str, embedding_model: str, dimension: int) -> OpenCorpus:
        """A new, empty corpus."""
        corpus_id = str(uuid5(_CORPUS_NAMES, name))
        with transaction(self._connection):
            self._connection.execute(
                "INSERT INTO corpora VALUES (?, ?, ?, ?, ?, 0, '')",
                (corpus_id, name, owner, embedding_model, dimension),
            )
            version = self._advance(corpus_id)
        return OpenCorpus(corpus_id, name, embedding_model, dimension, version)

    def delete_corpus(self, corpus: OpenCorpus) -> None:
        """Remove all rows; the journal keeps what the indexes need to forget it."""
        with transaction(self._connection):
            self._connection.execute(
                "INSERT OR REPLACE INTO dropped_corpora VALUES (?, ?, ?, ?)",
                (corpus.id, corpus.name, corpus.embedding_model, corpus.dimension),
            )
            self._connection.execute("DELETE FROM corpora WHERE id = ?", (corpus.id,))

    def known_documents(self, corpus: OpenCorpus) -> dict[str, KnownDocument]:
        """The stored documents by uri."""
        rows = self._connection.execute(
            "SELECT uri, id, content_hash, source_file FROM documents WHERE corpus_id = ?", (corpus.id,)
        )
        return {uri: KnownDocument(id_, digest, os.fsdecode(file)) for uri, id_, digest, file in rows}

    def put_documents(self, corpus: OpenCorpus, documents: Iterable[EmbeddedDocument]) -> None:
        """Add the documents, or replace those of the same uri."""
        with transaction(self._connection):
            for document in documents:
                document_id = str(uuid5(UUID(corpus.id), document.pieces.document.uri))
                self._remove(document_id)
                self._insert(corpus.id, document_id, document)
            self._advance(corpus.id)

    def remove_documents(self, corpus: OpenCorpus, document_ids: Iterable[str]) -> None:
        """Remove the documents with all that is theirs."""
        with transaction(self._connection):
            for document_id in document_ids:
                self._remove(document_id)
            self._advance(corpus.id)

    def set_source_file(self, document_id: str, source_file: str) -> None:
        """Note that an unchanged document is now read from another file."""
        self._connection.execute(
            "UPDATE documents SET source_file = ? WHERE id = ?", (os.fsencode(source_file), document_id)
        )

    def _remove(self, document_id: str) -> None:
        self._note_stale(document_id)
        self._entities.unlink(document_id)
        self._connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))

    def _note_stale(self, document_id: str) -> None:
        self._connection.execute(
            "INSERT OR IGNORE INTO stale_chunks SELECT corpus_id, id FROM chunks WHERE document_id = ?", (document_id,)
        )

    def _insert(self, corpus_id: str, document_id: str, embedded: EmbeddedDocument) -> None:
        pieces = embedded.pieces
        document = pieces.document
        self._connection.execute(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                document_id,
                corpus_id,
                document.uri,
                document.title,
                document.media_type,
                os.fsencode(pieces.source_file),
                pieces.content_hash,
            ),
        )
        section_ids = [str(uuid5(UUID(document_id), f"section/{i}")) for i in range(len(pieces.sections))]
        self._connection.executemany(
            "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)", _section_rows(document_id, section_ids, embedded)
        )
        (first_row,) = self._connection.execute("SELECT coalesce(max(row), 0) + 1 FROM chunks").fetchone()
        self._connection.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            _chunk_rows(first_row, corpus_id, document_id, section_ids, embedded),
        )
        self._connection.executemany(
            "INSERT INTO chunk_vectors VALUES (?, ?)",
            [(row, encode_vector(vector)) for row, vector in enumerate(embedded.chunk_vectors, first_row)],
        )
        self._connection.executemany(
            "INSERT INTO chunk_sentences VALUES (?, ?, ?)",
            [
                (row, *encode_sentences(spans, vectors))
                for row, (spans, vectors) in enumerate(
                    zip(pieces.sentences, embedded.sentence_vectors, strict=True), first_row
                )
            ],
        )
        self._entities.link(document_id)
        self._note_stale(document_id)

    def _advance(self, corpus_id: str) -> int:
        return advance_version(self._connection, corpus_id)


def advance_version(connection: sqlite3.Connection, corpus_id: str) -> int:
    """Give the corpus the store's next version; part of the transaction that changed it."""
    connection.execute("UPDATE version_counter SET value = value + 1")
    connection.execute(
        "UPDATE corpora SET version = (SELECT value FROM version_counter), updated_at = ? WHERE id = ?",
        (datetime.now(UTC).isoformat(timespec="seconds"), corpus_id),
    )
    version: int = connection.execute("SELECT value FROM version_counter").fetchone()[0]
    return version


def _section_rows(document_id: str, section_ids: Sequence[str], embedded: EmbeddedDocument) -> list[tuple[Any, ...]]:
    return [
        (
            section_id,
            document_id,
            None if section.parent is None else section_ids[section.parent],
            section.level,
            json.dumps(section.heading_path, ensure_ascii=False),
            section.start,
            section.end,
        )
        for section_id, section in zip(section_ids, embedded.pieces.sections, strict=True)
    ]


def _chunk_rows(
    first_row: int, corpus_id: str, document_id: str, section_ids: Sequence[str], embedded: EmbeddedDocument
) -> list[tuple[Any, ...]]:
    return [
        (
            first_row + position,
            str(uuid5(UUID(document_id), f"chunk/{position}")),
            corpus_id,
            document_id,
            section_ids[chunk.section],
            position,
            chunk.start,
            chunk.end,
            text,
        )
        for position, (chunk, text) in enumerate(zip(embedded.pieces.chunks, embedded.pieces.texts, strict=True))
    ]
