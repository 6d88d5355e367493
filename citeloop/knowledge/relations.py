"""Typed relations of a corpus, from either end, and the chunks that state them."""

import json
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from citeloop.knowledge.corpus import OpenCorpus


class End(NamedTuple):
    """An entity at an end of a relation."""

    form: str
    """Canonical: see ``text.entity_names``."""
    spelling: str


class Relation(NamedTuple):
    """What the chunk ``chunk_id`` says of two entities."""

    chunk_id: str
    subject: End
    relation: str
    object: End

    def __str__(self) -> str:
        return f"{self.subject.spelling} -{self.relation}-> {self.object.spelling}"


_RELATION = """
    SELECT c.id, r.subject, r.subject_spelling, r.relation, r.object, r.object_spelling
    FROM relations r JOIN chunks c ON c.row = r.chunk_row
"""


class RelationReader:
    """Reads of one corpus over one connection; every read is an index range with a limit, whatever the corpus holds."""

    def __init__(self, connection: sqlite3.Connection, corpus: OpenCorpus) -> None:
        self._connection = connection
        self._corpus = corpus

    def has_any(self) -> bool:
        """Whether relations were read of the corpus at all."""
        found = self._connection.execute("SELECT 1 FROM relations WHERE corpus_id = ? LIMIT 1", (self._corpus.id,))
        return found.fetchone() is not None

    def ends(self, forms: Iterable[str]) -> set[str]:
        """Those of ``forms`` that are an end of a relation."""
        rows = self._connection.execute(
            """SELECT value FROM json_each(:forms)
               WHERE EXISTS (SELECT 1 FROM relations WHERE corpus_id = :corpus AND subject = value)
                     OR EXISTS (SELECT 1 FROM relations WHERE corpus_id = :corpus AND object = value)""",
            {"corpus": self._corpus.id, "forms": json.dumps(sorted(set(forms)))},
        )
        return {form for (form,) in rows}

    def of_entity(self, form: str, limit: int) -> list[Relation]:
        """The first ``limit`` relations that begin at the entity, then as many that end there."""
        return [
            relation
            for end in ("subject", "object")
            for relation in self._read(f"r.corpus_id = :corpus AND r.{end} = :key ORDER BY r.chunk_row", form, limit)
        ]

    def stated_in(self, chunk_id: str, limit: int) -> list[Relation]:
        """The first ``limit`` relations that the chunk states."""
        return self._read("r.corpus_id = :corpus AND c.id = :key", chunk_id, limit)

    def _read(self, condition: str, key: str, limit: int) -> list[Relation]:
        rows = self._connection.execute(
            f"{_RELATION} WHERE {condition} LIMIT :limit", {"corpus": self._corpus.id, "key": key, "limit": limit}
        )
        return [
            Relation(chunk_id, End(subject, subject_as), relation, End(target, target_as))
            for chunk_id, subject, subject_as, relation, target, target_as in rows
        ]
