"""Which chunks are still to be read for relations, and what was read of them, in the store."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.relations import End, Relation
from citeloop.knowledge.store_writer import advance_version
from citeloop.models.relation_extractor import ExtractedRelations
from citeloop.text.entity_names import StandingForms, canonical_name, is_telling
from citeloop.text.names import is_one_line
from citeloop.text.relation_reply import Triple

_UNREAD = """
    FROM chunks c LEFT JOIN relation_readings r ON r.chunk_row = c.row
    WHERE c.corpus_id = :corpus AND c.row > :last AND (r.failure IS NULL OR r.failure <> '')
"""


class UnreadChunk(NamedTuple):
    """A chunk to be read for relations."""

    row: int
    id: str
    title: str
    heading_path: tuple[str, ...]
    text: str


def count_unread(connection: sqlite3.Connection, corpus: OpenCorpus) -> int:
    """Chunks that were not read for relations yet, those that failed before included."""
    (count,) = connection.execute(f"SELECT count(*) {_UNREAD}", {"corpus": corpus.id, "last": 0}).fetchone()
    return int(count)


def unread_after(connection: sqlite3.Connection, corpus: OpenCorpus, last: int, limit: int) -> list[UnreadChunk]:
    """The first ``limit`` of them behind the row ``last``, in the order of the store."""
    rows = connection.execute(
        f"""SELECT u.row, c.id, d.title, s.heading_path, c.text
            FROM (SELECT c.row {_UNREAD} ORDER BY c.row LIMIT :limit) u JOIN chunks c ON c.row = u.row
                 JOIN documents d ON d.id = c.document_id JOIN sections s ON s.id = c.section_id ORDER BY u.row""",
        {"corpus": corpus.id, "last": last, "limit": limit},
    )
    return [UnreadChunk(row, id_, title, tuple(json.loads(path)), text) for row, id_, title, path, text in rows]


def keep_readings(
    connection: sqlite3.Connection, corpus: OpenCorpus, readings: Iterable[tuple[UnreadChunk, ExtractedRelations]]
) -> int:
    """Store what was read of some chunks; part of a transaction. The number of relations kept.

    A chunk that was replaced or removed meanwhile is passed over: its row may be another's now.
    """
    kept = 0
    for chunk, read in readings:
        if not _is_there(connection, chunk):
            continue
        connection.execute("INSERT OR REPLACE INTO relation_readings VALUES (?, ?)", (chunk.row, read.failure))
        relations = list(standing_relations(chunk, read.triples))
        connection.executemany(
            "INSERT OR IGNORE INTO relations VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(chunk.row, *_columns(one), corpus.id) for one in relations],
        )
        kept += len(relations)
    advance_version(connection, corpus.id)
    return kept


def standing_relations(chunk: UnreadChunk, triples: Sequence[Triple]) -> Iterator[Relation]:
    """Those of ``triples`` whose two ends are different entities that stand in the chunk, its title or its headings.

    What a model makes up, or is talked into by a text, so cannot bring in an entity that the chunk does not name.
    """
    standing = StandingForms((chunk.title, *chunk.heading_path, chunk.text)) if triples else ()
    met: set[tuple[str, str, str]] = set()
    for subject, relation, target in triples:
        ends = End(canonical_name(subject), subject), End(canonical_name(target), target)
        key = (ends[0].form, relation, ends[1].form)
        stand = all(is_telling(end.form) and is_one_line(end.spelling) and end.form in standing for end in ends)
        if stand and is_one_line(relation) and ends[0].form != ends[1].form and key not in met:
            met.add(key)
            yield Relation(chunk.id, ends[0], relation, ends[1])


def _columns(one: Relation) -> tuple[str, ...]:
    return one.subject.form, one.relation, one.object.form, one.subject.spelling, one.object.spelling


def _is_there(connection: sqlite3.Connection, chunk: UnreadChunk) -> bool:
    found = connection.execute(
        "SELECT 1 FROM chunks WHERE row = ? AND id = ? AND text = ?", (chunk.row, chunk.id, chunk.text)
    )
    return found.fetchone() is not None
