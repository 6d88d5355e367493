"""One run of the indexer over one corpus."""

import time
from collections.abc import Iterator
from pathlib import Path

from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.embedding import embed_documents
from citeloop.knowledge.index_journal import IndexJournal
from citeloop.knowledge.index_report import IndexProgress, IndexReport, OnProgress
from citeloop.knowledge.ingest_source import IngestSource
from citeloop.knowledge.pieces import DocumentPieces, cut_into_pieces, hash_content
from citeloop.knowledge.store_writer import StoreWriter
from citeloop.models.embedder import Embedder

_CHUNKS_AT_A_TIME = 128
"""Chunks embedded and committed together: enough to sort by length, few enough to lose little when killed."""


class IngestRun:
    """Takes the documents of ``source`` into ``corpus``. Each batch is stored and indexed before the next is embedded.

    To be used once, while holding the store's write lock.
    """

    def __init__(
        self,
        source: IngestSource,
        corpus: OpenCorpus,
        writer: StoreWriter,
        journal: IndexJournal,
        embedder: Embedder,
        progress: OnProgress,
    ) -> None:
        self._source = source
        self._corpus = corpus
        self._writer = writer
        self._journal = journal
        self._embedder = embedder
        self._progress = progress
        self._known = writer.known_documents(corpus)
        self._met: set[str] = set()
        self._done = 0
        self._report = IndexReport(corpus.name, skipped=source.skipped)

    def complete(self, prune: bool) -> IndexReport:
        """Store what is new or changed, then, with ``prune``, remove what is gone."""
        started = time.monotonic()
        for batch in _batches(self._changed_documents()):
            self._store(batch)
        if prune:
            self._remove_gone()
        self._report.seconds = time.monotonic() - started
        return self._report

    def _changed_documents(self) -> Iterator[DocumentPieces]:
        for document, file in self._source:
            try:
                pieces = self._examine(document, file)
            except Exception as error:  # an odd document must not end the run
                self._skip(document, f"{type(error).__name__}: {error}")
                continue
            if pieces is not None:
                yield pieces

    def _examine(self, document: LoadedDocument, file: Path) -> DocumentPieces | None:
        """The document cut up, or None where there is nothing to do."""
        if document.uri in self._met:
            self._skip(
                document, "another document of this run has the same name; index their folders into corpora apart"
            )
            return None
        known, content_hash = self._known.get(document.uri), hash_content(document)
        is_new = known is None or known.content_hash != content_hash
        is_taken = known is not None and self._source.has_claim(known.source_file, document.uri, file)
        if known is not None and is_new and is_taken:
            self._skip(document, _name_taken(known.source_file, file))
            return None
        self._met.add(document.uri)
        if known is None or is_new:
            return cut_into_pieces(document, str(file), content_hash)
        if not is_taken and known.source_file != str(file):
            self._writer.set_source_file(known.id, str(file))
        self._report.unchanged += 1
        self._advance(1, document.uri)
        return None

    def _store(self, batch: list[DocumentPieces]) -> None:
        chunks = sum(len(pieces.chunks) for pieces in batch)
        last = batch[-1].document.uri

        def tell(share: float) -> None:
            self._tell(self._report.chunks + int(share * chunks), last)

        self._writer.put_documents(self._corpus, embed_documents(batch, self._embedder, tell))
        self._journal.settle(self._corpus)
        replaced = sum(pieces.document.uri in self._known for pieces in batch)
        self._report.replaced += replaced
        self._report.added += len(batch) - replaced
        self._report.chunks += chunks
        self._advance(len(batch), last)

    def _remove_gone(self) -> None:
        gone = [
            known.id
            for uri, known in self._known.items()
            if uri not in self._met and self._source.is_gone(known.source_file)
        ]
        if gone:
            self._writer.remove_documents(self._corpus, gone)
            self._journal.settle(self._corpus)
            self._report.removed = len(gone)

    def _skip(self, document: LoadedDocument, reason: str) -> None:
        self._report.skipped.append(f"{document.uri}: {reason}")
        self._advance(1, document.uri)

    def _advance(self, documents: int, current: str) -> None:
        self._done += documents
        self._tell(self._report.chunks, current)

    def _tell(self, chunks: int, current: str) -> None:
        self._progress(IndexProgress(self._done, self._source.total, chunks, current))


def _name_taken(source_file: str, file: Path) -> str:
    return (
        f"{file} has the name of a document that the corpus holds from {source_file}; index the folder above both, "
        "or this one into another corpus"
    )


def _batches(documents: Iterator[DocumentPieces]) -> Iterator[list[DocumentPieces]]:
    """Whole documents, up to the one with which a batch has its chunks; one huge document is a batch of its own."""
    batch: list[DocumentPieces] = []
    chunks = 0
    for pieces in documents:
        batch.append(pieces)
        chunks += len(pieces.chunks)
        if chunks >= _CHUNKS_AT_A_TIME:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch
