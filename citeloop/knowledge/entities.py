"""Entities of a corpus, by the canonical form of their names, and the chunks that they lead to."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.relations import RelationReader
from citeloop.knowledge.vector_codec import decode_vectors
from citeloop.models.embedder import Vectors

SUBJECT, MENTION = 0, 1
"""Role of an entity for a chunk: its title or a heading names it, or its text mentions it."""


class EntityCounts(NamedTuple):
    """How many chunks an entity leads to, counted up to the limit that was asked for."""

    subject_of: int
    mentioned_in: int


class EntityChunks(NamedTuple):
    """Some chunks of an entity, in the order in which they are stored."""

    ids: list[str]
    vectors: Vectors
    """Unit vectors ``(len(ids), dimension)``."""


class EntityReader:
    """Reads of one corpus over one connection; every read is an index range with a limit, whatever the corpus holds."""

    def __init__(self, connection: sqlite3.Connection, corpus: OpenCorpus) -> None:
        self._connection = connection
        self._corpus = corpus
        self.relations = RelationReader(connection, corpus)

    def known(self, forms: Iterable[str], limit: int) -> dict[str, EntityCounts]:
        """Those of ``forms`` that name an entity of the corpus, with counts up to ``limit``."""
        rows = self._connection.execute(
            f"""SELECT e.form, {_count(SUBJECT)}, {_count(MENTION)} FROM entities e
                WHERE e.corpus_id = :corpus AND e.form IN (SELECT value FROM json_each(:forms))""",
            {"corpus": self._corpus.id, "forms": json.dumps(sorted(set(forms))), "limit": limit},
        )
        return {form: EntityCounts(subjects, mentions) for form, subjects, mentions in rows}

    def chunks(self, form: str, role: int, limit: int) -> EntityChunks:
        """The first ``limit`` chunks for which the entity has that role, with their vectors."""
        rows = self._connection.execute(
            """SELECT c.id, v.vector FROM entities e JOIN mentions m ON m.entity_id = e.id AND m.role = :role
                      JOIN chunks c ON c.row = m.chunk_row JOIN chunk_vectors v ON v.chunk_row = c.row
               WHERE e.corpus_id = :corpus AND e.form = :form ORDER BY m.chunk_row LIMIT :limit""",
            {"corpus": self._corpus.id, "form": form, "role": role, "limit": limit},
        )
        return self._decode(rows.fetchall())

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> EntityChunks:
        """Those of the chunks that the corpus holds, with their vectors."""
        rows = self._connection.execute(
            """SELECT c.id, v.vector FROM chunks c JOIN chunk_vectors v ON v.chunk_row = c.row
               WHERE +c.corpus_id = :corpus AND c.id IN (SELECT value FROM json_each(:ids)) ORDER BY c.row""",
            {"corpus": self._corpus.id, "ids": json.dumps(list(chunk_ids))},
        )
        return self._decode(rows.fetchall())

    def subjects_of(self, chunk_id: str) -> list[str]:
        """What the chunk's title and headings name, by canonical forms."""
        rows = self._connection.execute(
            """SELECT e.form FROM chunks c JOIN mentions m ON m.chunk_row = c.row AND m.role = :role
                      JOIN entities e ON e.id = m.entity_id
               WHERE c.id = :chunk AND +c.corpus_id = :corpus ORDER BY e.form""",
            {"chunk": chunk_id, "corpus": self._corpus.id, "role": SUBJECT},
        )
        return [form for (form,) in rows]

    def chunk_ids(self, form: str, limit: int) -> list[str]:
        """The chunks about the entity, then those that mention it."""
        return [chunk_id for role in (SUBJECT, MENTION) for chunk_id in self.chunks(form, role, limit).ids][:limit]

    def _decode(self, rows: Sequence[tuple[str, bytes]]) -> EntityChunks:
        if not rows:
            return EntityChunks([], np.zeros((0, self._corpus.dimension), np.float32))
        vectors = decode_vectors(b"".join(vector for _, vector in rows), self._corpus.dimension)
        return EntityChunks([chunk_id for chunk_id, _ in rows], vectors)


def _count(role: int) -> str:
    return f"(SELECT count(*) FROM (SELECT 1 FROM mentions WHERE entity_id = e.id AND role = {role} LIMIT :limit))"
