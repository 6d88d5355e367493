"""The stored chunk vectors themselves, past any index: in shards of rows for a full scan, and by the chunks' ids."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.knowledge.vector_codec import decode_vectors
from citeloop.models.embedder import Vectors

_ROWS_AT_A_TIME = 1000
_VECTORS = "FROM chunks c JOIN chunk_vectors v ON v.chunk_row = c.row"


class Shard(NamedTuple):
    """A run of a corpus's rows, both ends included; rows of other corpora that stand between them are not its own."""

    first_row: int
    last_row: int
    rows: int
    """Rows of the corpus among them, as of the cut."""


@dataclass(frozen=True, slots=True)
class PlacedVector:
    """A chunk's unit vector ``(dimension,)``, and where the chunk stands."""

    document_id: str
    section_id: str
    vector: Vectors


def cut_shards(store: HierarchicalKnowledgeStore, corpus: OpenCorpus, size: int) -> list[Shard]:
    """All rows of the corpus as of now, ``size`` in a shard, the last one with what is left. Reads no vector."""
    with store.file.reading() as connection:
        rows = connection.execute(
            """SELECT min(row), max(row), count(*)
               FROM (SELECT row, (row_number() OVER (ORDER BY row) - 1) / :size AS shard
                     FROM chunks WHERE corpus_id = :corpus)
               GROUP BY shard ORDER BY shard""",
            {"corpus": corpus.id, "size": size},
        ).fetchall()
    return [Shard(*row) for row in rows]


def read_shard(
    store: HierarchicalKnowledgeStore, corpus: OpenCorpus, first_row: int, last_row: int
) -> Iterator[tuple[list[str], Vectors]]:
    """Ids and unit vectors ``(n, dimension)`` of the corpus's chunks from ``first_row`` to ``last_row``, as of now.

    A thousand at a time: many worker threads may each be reading a shard.
    """
    with store.file.reading() as connection:
        found = connection.execute(
            f"SELECT c.id, v.vector {_VECTORS} WHERE c.corpus_id = :corpus AND c.row BETWEEN :first AND :last",
            {"corpus": corpus.id, "first": first_row, "last": last_row},
        )
        while rows := found.fetchmany(_ROWS_AT_A_TIME):
            yield [row[0] for row in rows], decode_vectors(b"".join(row[1] for row in rows), corpus.dimension)


def read_vectors(
    store: HierarchicalKnowledgeStore, corpus: OpenCorpus, chunk_ids: Sequence[str]
) -> dict[str, PlacedVector]:
    """The vectors of chunks by their ids; those that are not in the corpus (any more) are left out."""
    with store.file.reading() as connection:
        rows = connection.execute(
            f"""SELECT c.id, c.document_id, c.section_id, v.vector {_VECTORS}
                WHERE +c.corpus_id = :corpus AND c.id IN (SELECT value FROM json_each(:ids))""",
            {"corpus": corpus.id, "ids": json.dumps(list(chunk_ids))},
        ).fetchall()
    return {row[0]: PlacedVector(row[1], row[2], decode_vectors(row[3], corpus.dimension)[0]) for row in rows}
