"""Writes what the chunks are about and what they mention, from their titles, headings and text."""

import json
import sqlite3
from collections.abc import Iterable

from citeloop.knowledge.entities import MENTION, SUBJECT
from citeloop.knowledge.store_file import transaction
from citeloop.text.entity_names import canonical_name, find_names, is_telling

_DOCUMENTS_AT_A_TIME = 200


class EntityWriter:
    """The entities of one store. To be used while holding its write lock.

    What is kept of a chunk follows from the chunk alone, never from other documents: names meet by their canonical form
    when they are looked up, so it makes no difference in which order documents come.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def link(self, document_id: str) -> None:
        """Note the entities of a document's chunks; part of the transaction that stored them."""
        rows = self._connection.execute(
            """SELECT c.corpus_id, c.row, d.title, s.heading_path, c.text
               FROM chunks c JOIN documents d ON d.id = c.document_id JOIN sections s ON s.id = c.section_id
               WHERE c.document_id = ? ORDER BY c.row""",
            (document_id,),
        ).fetchall()
        for corpus_id, row, title, heading_path, text in rows:
            subjects = _forms((title, *json.loads(heading_path)))
            mentioned = {name.form for name in find_names(text)} - subjects
            self._note(corpus_id, row, SUBJECT, subjects)
            self._note(corpus_id, row, MENTION, mentioned)

    def unlink(self, document_id: str) -> None:
        """Remove the entities that this document alone names; its mentions of others go with its chunks."""
        self._connection.execute(
            """DELETE FROM entities
               WHERE id IN (SELECT m.entity_id FROM chunks c JOIN mentions m ON m.chunk_row = c.row
                            WHERE c.document_id = :document)
                     AND NOT EXISTS (SELECT 1 FROM mentions m JOIN chunks c ON c.row = m.chunk_row
                                     WHERE m.entity_id = entities.id AND c.document_id <> :document)""",
            {"document": document_id},
        )

    def link_unlinked(self) -> None:
        """Note the entities of documents that an earlier version stored, from their text, without embedding anything.

        Some at a time, each time a transaction: killed midway, it goes on from there.
        """
        while waiting := self._connection.execute(
            "SELECT document_id FROM unlinked_documents LIMIT ?", (_DOCUMENTS_AT_A_TIME,)
        ).fetchall():
            with transaction(self._connection):
                for (document_id,) in waiting:
                    self.link(document_id)
                self._connection.executemany("DELETE FROM unlinked_documents WHERE document_id = ?", waiting)

    def _note(self, corpus_id: str, chunk_row: int, role: int, forms: Iterable[str]) -> None:
        values = [(corpus_id, form) for form in sorted(forms)]
        self._connection.executemany("INSERT OR IGNORE INTO entities (corpus_id, form) VALUES (?, ?)", values)
        self._connection.executemany(
            "INSERT OR IGNORE INTO mentions SELECT id, ?, ? FROM entities WHERE corpus_id = ? AND form = ?",
            [(role, chunk_row, *value) for value in values],
        )


def _forms(headings: Iterable[str]) -> set[str]:
    return {form for form in map(canonical_name, headings) if is_telling(form)}
