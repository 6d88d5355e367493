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
_ENDS = ("subject", "object")
_KINDS = """
    WITH RECURSIVE kinds (kind) AS (
        SELECT min(relation) FROM relations WHERE corpus_id = :corpus AND {end} = :key
        UNION ALL
        SELECT (SELECT min(relation) FROM relations WHERE corpus_id = :corpus AND {end} = :key AND relation > kind)
        FROM kinds WHERE kind IS NOT NULL)
    SELECT kind FROM kinds WHERE kind IS NOT NULL LIMIT :limit
"""
"""From one to the next by the index, past the relations of the same words."""


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
        """The first ``limit`` relations that begin at the entity, by the alphabet, then as many that end there."""
        order = "ORDER BY r.relation, r.chunk_row"
        return [one for end in _ENDS for one in self._read(f"r.{end} = :key {order}", form, limit)]

    def of_kind(self, form: str, relation: str, limit: int) -> list[Relation]:
        """Of the entity's relations those of these words, ``limit`` in each direction."""
        condition = "= :key AND r.relation = :relation ORDER BY r.chunk_row"
        return [one for end in _ENDS for one in self._read(f"r.{end} {condition}", form, limit, relation)]

    def kinds_of(self, form: str, limit: int) -> set[str]:
        """The words of the entity's relations, the first ``limit`` in each direction, however many relations it has."""
        return {
            kind for end in _ENDS for (kind,) in self._connection.execute(_KINDS.format(end=end), self._of(form, limit))
        }

    def stated_in(self, chunk_id: str, limit: int) -> list[Relation]:
        """The first ``limit`` relations that the chunk states."""
        return self._read("c.id = :key", chunk_id, limit)

    def _read(self, condition: str, key: str, limit: int, relation: str = "") -> list[Relation]:
        rows = self._connection.execute(
            f"{_RELATION} WHERE r.corpus_id = :corpus AND {condition} LIMIT :limit",
            {**self._of(key, limit), "relation": relation},
        )
        return [
            Relation(chunk_id, End(subject, subject_as), relation, End(target, target_as))
            for chunk_id, subject, subject_as, relation, target, target_as in rows
        ]

    def _of(self, key: str, limit: int) -> dict[str, str | int]:
        return {"corpus": self._corpus.id, "key": key, "limit": limit}
