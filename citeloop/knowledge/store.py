"""The hierarchical knowledge store (ADR-031): corpora > documents > sections > chunks > sentences."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from citeloop.errors import CorpusNotFound
from citeloop.governance.access import AccessPolicy, OwnersAndGrants, parse_principal
from citeloop.governance.rights_change import OnRightsChange, unrecorded
from citeloop.knowledge.corpus import Chunk, ChunkSentences, CorpusSummary, Grant, OpenCorpus
from citeloop.knowledge.entities import EntityReader
from citeloop.knowledge.rights import CorpusRights, bind_principals, is_among_readable, is_readable
from citeloop.knowledge.store_file import StoreFile
from citeloop.knowledge.vector_codec import decode_sentences, decode_vectors
from citeloop.models.embedder import Vectors
from citeloop.state.models import UserContext
from citeloop.text.entity_names import canonical_name

_CORPUS = "SELECT id, name, embedding_model, dimension, version FROM corpora"
_COLUMNS = """
    c.id, o.name, c.document_id, c.section_id, c.position, d.title, d.uri, s.heading_path, c.text, c.start_offset,
    c.end_offset
"""
_TABLES = """
    FROM chunks c JOIN documents d ON d.id = c.document_id JOIN sections s ON s.id = c.section_id
         JOIN corpora o ON o.id = c.corpus_id
"""
_CHUNK = f"SELECT {_COLUMNS} {_TABLES}"
_ASKED = "SELECT value FROM json_each(:ids)"
_OF_CORPUS = "+c.corpus_id = :corpus"
"""The ``+`` keeps SQLite from walking the whole corpus by its index: a few ids are looked up faster than it."""


class HierarchicalKnowledgeStore:
    """Documents and vectors of a home folder, in SQLite. The search indexes derive from it; it does not know them.

    Every read takes an ``OpenCorpus`` and sees that corpus alone. All methods block; all are thread-safe, survive a
    fork, and answer from the last commit while another process writes.

    ``on_rights_change`` is told each change of owner or grants, and each deletion, before it is committed, and undoes
    it by raising. The store of an engine from ``open_engine``, and of the command line, so leaves a row in the audit
    log for each; a program that makes a store of its own passes ``record_in(audit)`` to have the same.

    Raises:
        StoreCorrupt: ``store.db`` cannot be read, or is not ours.
        StoreVersionMismatch: it was written in another format.
        StoreError: the folder or the file cannot be used.
    """

    def __init__(
        self, home: Path, policy: AccessPolicy | None = None, on_rights_change: OnRightsChange = unrecorded
    ) -> None:
        self.file = StoreFile(home)
        self.policy = policy or OwnersAndGrants()
        self.on_rights_change = on_rights_change

    def open_corpus(self, name: str, caller: UserContext) -> OpenCorpus:
        """The corpus, for one caller, as of now.

        Raises:
            CorpusNotFound: there is none of that name, or the caller may not read it; both are told alike.
        """
        principals = self.policy.principals(caller)
        row = self._one(
            f"{_CORPUS} WHERE name = :name AND {is_readable(principals)}",
            {"name": name, **bind_principals(principals)},
        )
        if row is None:
            raise CorpusNotFound(name)
        return OpenCorpus(*row)

    def open_corpora(self, names: Sequence[str] | None, caller: UserContext) -> list[OpenCorpus]:
        """The corpora named, in that order, each once; all that are open to the caller, by name, for ``None``.

        Raises:
            CorpusNotFound: one of ``names`` is missing or denied.
        """
        if names is not None:
            return [self.open_corpus(name, caller) for name in dict.fromkeys(names)]
        principals = self.policy.principals(caller)
        rows = self._all(f"{_CORPUS} WHERE {is_among_readable(principals)} ORDER BY name", bind_principals(principals))
        return [OpenCorpus(*row) for row in rows]

    def grants(self, name: str, caller: UserContext) -> list[Grant]:
        """Who may read the corpus beside its owner, by principal. For those who may write it.

        Raises:
            CorpusNotFound: there is none of that name, or the caller may not write it; both are told alike.
        """
        with self.file.reading() as connection:
            return CorpusRights(connection, name, self.policy.principals(caller)).grants()

    def grant(self, name: str, readers: Sequence[str], caller: UserContext) -> list[str]:
        """Let principals (``user:<id>``, ``group:<name>``, ``everyone``) read the corpus: all of them or none.

        Durable on return, and seen by the next search of any process. Those that could not read it before are returned.

        Raises:
            InvalidRequest: one of ``readers`` is no principal.
            CorpusNotFound: there is no corpus of that name, or it is another's; both are told alike.
            StoreBusy: another process keeps the store locked.
        """
        asked = [parse_principal(reader) for reader in readers]
        with self._changing_rights(name, caller) as rights:
            granted = [reader for reader in asked if rights.grant(reader, caller.user_id)]
            self._tell("granted", name, granted, caller)
        return granted

    def revoke(self, name: str, readers: Sequence[str], caller: UserContext) -> list[str]:
        """Take grants back; those that were there are returned. Otherwise as ``grant``.

        What else lets a reader in stays: ownership, and grants to their groups or to everyone.
        """
        asked = [parse_principal(reader) for reader in readers]
        with self._changing_rights(name, caller) as rights:
            revoked = [reader for reader in asked if rights.revoke(reader)]
            self._tell("revoked", name, revoked, caller)
        return revoked

    def set_owner(self, name: str, user_id: str, caller: UserContext) -> None:
        """Make the corpus another user's, who alone may write it from then on; grants stay. Raises as ``grant`` does.

        An indexing of it that is under way goes on to its end.
        """
        owner = parse_principal(f"user:{user_id}")
        with self._changing_rights(name, caller) as rights:
            self._tell("owner", name, [owner] if rights.set_owner(user_id) else [], caller)

    def corpus_summary(self, corpus: OpenCorpus) -> CorpusSummary:
        """Counts and provenance of a corpus.

        Raises:
            CorpusNotFound: it was deleted since it was opened.
        """
        row = self._one(
            """SELECT name, owner, (SELECT count(*) FROM documents WHERE corpus_id = :corpus),
                      (SELECT count(*) FROM chunks WHERE corpus_id = :corpus),
                      (SELECT count(*) FROM relations WHERE corpus_id = :corpus), embedding_model, version, updated_at
               FROM corpora WHERE id = :corpus""",
            {"corpus": corpus.id},
        )
        if row is None:
            raise CorpusNotFound(corpus.name)
        return CorpusSummary(*row)

    def read_chunks(self, corpus: OpenCorpus, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The chunks in the order of ``chunk_ids``; ids that are not in the corpus (any more) are left out."""
        rows = self._all(f"{_CHUNK} WHERE {_OF_CORPUS} AND c.id IN ({_ASKED})", _asked(corpus, chunk_ids))
        found = {row[0]: _chunk(row) for row in rows}
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def read_chunks_with_sentences(
        self, corpus: OpenCorpus, chunk_ids: Sequence[str]
    ) -> list[tuple[Chunk, ChunkSentences]]:
        """The chunks with their sentences and vectors, as stored at ingest; order and left-out ones as ``read_chunks``.

        One statement, so that a chunk never comes with the sentences of its successor.
        """
        rows = self._all(
            f"""SELECT {_COLUMNS}, cs.spans, cs.vectors {_TABLES} JOIN chunk_sentences cs ON cs.chunk_row = c.row
                WHERE {_OF_CORPUS} AND c.id IN ({_ASKED})""",
            _asked(corpus, chunk_ids),
        )
        found = {row[0]: (_chunk(row[:-2]), decode_sentences(row[-2], row[-1], corpus.dimension)) for row in rows}
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def neighbours(self, corpus: OpenCorpus, chunk_ids: Sequence[str], radius: int) -> list[Chunk]:
        """The chunks that stand up to ``radius`` places before or after the given ones in their documents.

        Without the given ones; by document and position.
        """
        return self._chunks_around(
            corpus,
            chunk_ids,
            """beside.document_id = asked.document_id
               AND beside.position BETWEEN asked.position - :radius AND asked.position + :radius""",
            {"radius": radius},
        )

    def section_chunks(self, corpus: OpenCorpus, chunk_ids: Sequence[str]) -> list[Chunk]:
        """The other chunks of the sections that the given ones stand in (subsections not included).

        Without the given ones; by document and position.
        """
        return self._chunks_around(corpus, chunk_ids, "beside.section_id = asked.section_id", {})

    def get_chunks_by_entity(self, corpus: OpenCorpus, entity: str, limit: int) -> list[Chunk]:
        """At most ``limit`` chunks of what ``entity`` names, however it is spelt (ADR-031), in the order of the store:
        those whose title or headings name it, then those that mention it."""
        with self.reading_entities([corpus]) as readers:
            found = readers[corpus.name].chunk_ids(canonical_name(entity), limit)
        return self.read_chunks(corpus, found)

    @contextmanager
    def reading_entities(self, corpora: Sequence[OpenCorpus]) -> Iterator[dict[str, EntityReader]]:
        """The entities of each corpus, by its name, over one connection: for many reads in a row."""
        with self.file.reading() as connection:
            yield {corpus.name: EntityReader(connection, corpus) for corpus in corpora}

    def scan_vectors(self, corpus: OpenCorpus, batch_size: int = 4096) -> Iterator[tuple[list[str], Vectors]]:
        """All chunks of the corpus: ids with their unit vectors ``(n, dimension)``, ``n`` at most ``batch_size``.

        Memory is bounded by the batch, no connection is held between two of them: a write meanwhile may show in part.
        """
        last = 0
        while rows := self._all(
            """SELECT c.row, c.id, v.vector FROM chunks c JOIN chunk_vectors v ON v.chunk_row = c.row
               WHERE c.corpus_id = :corpus AND c.row > :last ORDER BY c.row LIMIT :limit""",
            {"corpus": corpus.id, "last": last, "limit": batch_size},
        ):
            last = rows[-1][0]
            yield [row[1] for row in rows], decode_vectors(b"".join(row[2] for row in rows), corpus.dimension)

    def close(self) -> None:
        """Give the connections back; the store opens new ones when it is used again."""
        self.file.close()

    def _chunks_around(
        self, corpus: OpenCorpus, chunk_ids: Sequence[str], condition: str, more: Mapping[str, int]
    ) -> list[Chunk]:
        rows = self._all(
            f"""WITH asked AS MATERIALIZED (SELECT c.row, c.document_id, c.section_id, c.position FROM chunks c
                                            WHERE {_OF_CORPUS} AND c.id IN ({_ASKED})) {_CHUNK}
                WHERE c.row IN (SELECT beside.row FROM asked CROSS JOIN chunks AS beside ON {condition})
                      AND c.row NOT IN (SELECT row FROM asked)
                ORDER BY d.uri, c.position""",
            {**_asked(corpus, chunk_ids), **more},
        )
        return [_chunk(row) for row in rows]

    @contextmanager
    def _changing_rights(self, name: str, caller: UserContext) -> Iterator[CorpusRights]:
        with self.file.amending() as connection:
            yield CorpusRights(connection, name, self.policy.principals(caller))

    def _tell(
        self, change: Literal["granted", "revoked", "owner"], name: str, principals: list[str], caller: UserContext
    ) -> None:
        if principals:
            self.on_rights_change({"change": change, "corpus": name, "principals": principals, "by": caller.user_id})

    def _one(self, statement: str, values: Mapping[str, str]) -> tuple[Any, ...] | None:
        return next(iter(self._all(statement, values)), None)

    def _all(self, statement: str, values: Mapping[str, str | int]) -> list[tuple[Any, ...]]:
        with self.file.reading() as connection:
            return connection.execute(statement, values).fetchall()


def _asked(corpus: OpenCorpus, chunk_ids: Sequence[str]) -> dict[str, str]:
    """Ids go in as one JSON value: the statement stays the same, and prepared, for any number of them."""
    return {"corpus": corpus.id, "ids": json.dumps(list(chunk_ids))}


def _chunk(row: tuple[Any, ...]) -> Chunk:
    values = list(row)
    values[7] = tuple(json.loads(values[7]))
    return Chunk(*values)
