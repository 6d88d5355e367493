"""From files to a searchable corpus: load, cut, embed, store, index. Only what changed, and safe to kill."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from citeloop.errors import CorpusNotFound, InvalidRequest
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.embedding import require_embedding_model
from citeloop.knowledge.index_journal import IndexJournal
from citeloop.knowledge.index_report import IndexReport, OnProgress
from citeloop.knowledge.indexes import LexicalIndex, VectorIndex
from citeloop.knowledge.ingest_run import IngestRun
from citeloop.knowledge.ingest_source import IngestSource
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
        """Bring the corpus up to what the files at and under ``paths`` hold; a corpus that is not there is made.

        Documents are known by their uri, the path below the folder given. Unchanged ones are passed over without
        embedding, changed ones replaced; with ``prune`` those from under ``paths`` whose file, or whose place in it, is
        gone are removed. A document whose name another file holds, in this run or in the corpus, and a file that
        cannot be used are told in the report. Killed at any moment and run again, it ends as if it had run
        once.

        Raises:
            InvalidRequest: a path does not exist, or the corpus name is blank.
            CorpusNotFound: the caller may not write the corpus.
            EmbeddingMismatch: the corpus was filled by another embedding model.
            StoreBusy: another writer is at work.
        """
        if not corpus_name.strip():
            raise InvalidRequest("the name of a corpus cannot be blank; give it one")
        source = IngestSource(paths)
        with self._store.file.writing() as connection:
            writer, journal = StoreWriter(connection), self._journal(connection)
            corpus = self._open_or_create(writer, corpus_name, caller)
            journal.recover()
            run = IngestRun(source, corpus, writer, journal, self._embedder, progress)
            return run.complete(prune)

    def delete_corpus(self, corpus_name: str, caller: UserContext) -> None:
        """Remove a corpus with its documents and all that the search indexes keep of it.

        Raises:
            CorpusNotFound: there is none of that name, or the caller may not write it; both are told alike.
            StoreBusy: another writer is at work.
        """
        with self._store.file.writing() as connection:
            writer = StoreWriter(connection)
            found = writer.find_corpus(corpus_name)
            if found is None or not self._store.policy.may_write(caller, corpus_name, found.owner):
                raise CorpusNotFound(corpus_name)
            writer.delete_corpus(found.corpus)
            self._journal(connection).recover()

    def _open_or_create(self, writer: StoreWriter, name: str, caller: UserContext) -> OpenCorpus:
        found = writer.find_corpus(name)
        owner = found.owner if found else caller.user_id
        if not self._store.policy.may_write(caller, name, owner):
            raise CorpusNotFound(name)
        if found is None:
            return writer.create_corpus(name, owner, self._embedder.model_id, self._embedder.dimension)
        require_embedding_model(found.corpus, self._embedder)
        return found.corpus

    def _journal(self, connection: sqlite3.Connection) -> IndexJournal:
        return IndexJournal(connection, self._vector_index, self._lexical_index)
