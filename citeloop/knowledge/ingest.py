"""From files to a searchable corpus: load, cut, embed, store, index. Only what changed, and safe to kill."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from citeloop.governance.access import may_own
from citeloop.knowledge.corpus import OpenCorpus, require_corpus_name
from citeloop.knowledge.embedding import require_embedding_model
from citeloop.knowledge.entity_writer import EntityWriter
from citeloop.knowledge.index_journal import IndexJournal
from citeloop.knowledge.index_report import IndexReport, OnProgress
from citeloop.knowledge.indexes import LexicalIndex, VectorIndex
from citeloop.knowledge.ingest_run import IngestRun
from citeloop.knowledge.ingest_source import IngestSource
from citeloop.knowledge.rights import find_writable
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.knowledge.store_writer import StoreWriter
from citeloop.models.embedder import Embedder
from citeloop.state.models import UserContext


class Indexer:
    """Fills the corpora of a store and keeps the two search indexes in step with it.

    One at a time: raises ``StoreBusy`` within seconds while another process or thread writes. Blocking.
    """

    def __init__(
        self,
        store: HierarchicalKnowledgeStore,
        vector_index: VectorIndex,
        lexical_index: LexicalIndex,
        embedder: Embedder,
    ) -> None:
        self._store = store
        self._vector_index = vector_index
        self._lexical_index = lexical_index
        self._embedder = embedder

    def index(
        self,
        paths: Sequence[Path],
        corpus_name: str,
        caller: UserContext,
        prune: bool = False,
        progress: OnProgress = lambda _: None,
    ) -> IndexReport:
        """Bring the corpus up to what the files at and under ``paths`` hold; one that is not there is made,
        and is the caller's.

        Documents are known by their uri, the path below the folder given. Unchanged ones are passed over without
        embedding, changed ones replaced; with ``prune`` those from under ``paths`` whose file, or whose place in it, is
        gone are removed. A document whose name another file holds, in this run or in the corpus, and a file that
        cannot be used are told in the report. Killed at any moment and run again, it ends as if it had run
        once.

        Raises:
            InvalidRequest: a path does not exist, or the corpus name is blank, or holds control characters.
            CorpusNotFound: the corpus is another's, or there is none and the caller is nobody who could own it.
            EmbeddingMismatch: the corpus was filled by another embedding model.
            StoreBusy: another writer is at work.
        """
        require_corpus_name(corpus_name)
        source = IngestSource(paths)
        with self._store.file.writing() as connection:
            writer, journal = StoreWriter(connection), self._journal(connection)
            corpus = self._open_or_create(connection, corpus_name, caller)
            journal.recover()
            EntityWriter(connection).link_unlinked()
            run = IngestRun(source, corpus, writer, journal, self._embedder, progress)
            return run.complete(prune)

    def delete_corpus(self, corpus_name: str, caller: UserContext) -> None:
        """Remove a corpus with its documents and all that the search indexes keep of it.

        Raises:
            CorpusNotFound: there is none of that name, or it is another's; both are told alike.
            StoreBusy: another writer is at work.
        """
        with self._store.file.writing() as connection:
            corpus = find_writable(connection, corpus_name, self._store.policy.principals(caller))
            self._store.on_rights_change({"change": "deleted", "corpus": corpus_name, "by": caller.user_id})
            StoreWriter(connection).delete_corpus(corpus)
            self._journal(connection).recover()

    def _open_or_create(self, connection: sqlite3.Connection, name: str, caller: UserContext) -> OpenCorpus:
        writer, principals = StoreWriter(connection), self._store.policy.principals(caller)
        if not writer.holds_corpus(name) and may_own(caller, principals):
            return writer.create_corpus(name, caller.user_id, self._embedder.model_id, self._embedder.dimension)
        corpus = find_writable(connection, name, principals)
        require_embedding_model(corpus, self._embedder)
        return corpus

    def _journal(self, connection: sqlite3.Connection) -> IndexJournal:
        return IndexJournal(connection, self._vector_index, self._lexical_index)
