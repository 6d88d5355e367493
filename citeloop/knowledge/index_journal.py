"""Brings the search indexes up to what the store holds, whatever was interrupted.

The store notes, in the transaction that changes a chunk, that the indexes may not know of it. Settling a note means: a
chunk that is in the store is upserted, one that is not is deleted. Both can be done twice, so a process killed between
the store's commit and the note's removal leaves nothing worse than a note to settle again.
"""

import json
import sqlite3
from typing import Any

from citeloop.errors import StoreCorrupt
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.indexes import LexicalIndex, VectorIndex
from citeloop.knowledge.pieces import indexed_text
from citeloop.knowledge.store_file import transaction
from citeloop.knowledge.store_writer import advance_version
from citeloop.knowledge.vector_codec import decode_vectors

_COLUMNS = "id, name, embedding_model, dimension"
_CHUNKS_AT_A_TIME = 2000  # bounds memory: some 10 MB of texts and vectors


class IndexJournal:
    """The notes of one store, settled into its two indexes. To be used while holding the store's write lock."""

    def __init__(self, connection: sqlite3.Connection, vector_index: VectorIndex, lexical_index: LexicalIndex) -> None:
        self._connection = connection
        self._vector_index = vector_index
        self._lexical_index = lexical_index

    def recover(self) -> None:
        """Settle what an earlier writer left, of all corpora, and build anew what an index has lost."""
        for row in self._connection.execute(f"SELECT {_COLUMNS}, 0 FROM dropped_corpora").fetchall():
            self._forget(OpenCorpus(*row))
        for row in self._connection.execute(f"SELECT {_COLUMNS}, version FROM corpora").fetchall():
            corpus = OpenCorpus(*row)
            if self._has_chunks(corpus) and self._is_lost(corpus):
                self._rebuild(corpus)
            self.settle(corpus)

    def settle(self, corpus: OpenCorpus) -> None:
        """Settle the notes of the corpus."""
        while stale := self._stale_ids(corpus):
            present = self._read_present(stale)
            self._delete(corpus, sorted(set(stale) - {row[0] for row in present}))
            self._upsert(corpus, present)
            self._strike(corpus, stale)

    def _forget(self, corpus: OpenCorpus) -> None:
        self._vector_index.drop(corpus)
        self._lexical_index.drop(corpus)
        self._connection.execute("DELETE FROM dropped_corpora WHERE id = ?", (corpus.id,))

    def _has_chunks(self, corpus: OpenCorpus) -> bool:
        found = self._connection.execute("SELECT 1 FROM chunks WHERE corpus_id = ? LIMIT 1", (corpus.id,)).fetchone()
        return found is not None

    def _is_lost(self, corpus: OpenCorpus) -> bool:
        try:
            return not self._vector_index.holds(corpus) or self._lexical_index.statistics(corpus, ()).chunks == 0
        except StoreCorrupt:
            return True

    def _rebuild(self, corpus: OpenCorpus) -> None:
        with transaction(self._connection):
            self._connection.execute(
                "INSERT OR IGNORE INTO stale_chunks SELECT corpus_id, id FROM chunks WHERE corpus_id = ?", (corpus.id,)
            )
        self._vector_index.drop(corpus)
        self._lexical_index.drop(corpus)

    def _strike(self, corpus: OpenCorpus, chunk_ids: list[str]) -> None:
        with transaction(self._connection):
            self._connection.execute(
                "DELETE FROM stale_chunks WHERE corpus_id = ? AND chunk_id IN (SELECT value FROM json_each(?))",
                (corpus.id, json.dumps(chunk_ids)),
            )
            advance_version(self._connection, corpus.id)  # what a reader cached meanwhile is out of date

    def _stale_ids(self, corpus: OpenCorpus) -> list[str]:
        rows = self._connection.execute(
            "SELECT chunk_id FROM stale_chunks WHERE corpus_id = ? LIMIT ?", (corpus.id, _CHUNKS_AT_A_TIME)
        )
        return [chunk_id for (chunk_id,) in rows]

    def _read_present(self, chunk_ids: list[str]) -> list[tuple[Any, ...]]:
        return self._connection.execute(
            """SELECT c.id, v.vector, d.title, s.heading_path, c.text
               FROM chunks c JOIN chunk_vectors v ON v.chunk_row = c.row JOIN documents d ON d.id = c.document_id
                    JOIN sections s ON s.id = c.section_id
               WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.row""",
            (json.dumps(chunk_ids),),
        ).fetchall()

    def _delete(self, corpus: OpenCorpus, chunk_ids: list[str]) -> None:
        if chunk_ids:
            self._vector_index.delete(corpus, chunk_ids)
            self._lexical_index.delete(corpus, chunk_ids)

    def _upsert(self, corpus: OpenCorpus, rows: list[tuple[Any, ...]]) -> None:
        if rows:
            vectors = decode_vectors(b"".join(row[1] for row in rows), corpus.dimension)
            self._vector_index.upsert(corpus, [row[0] for row in rows], vectors)
            texts = [(row[0], indexed_text(row[2], json.loads(row[3]), row[4])) for row in rows]
            self._lexical_index.upsert(corpus, texts)
