"""Keyword search with tantivy: one index folder per corpus (docs/adr/0003-lexical-index.md says why tantivy).

The words are ours, not the engine's: a text goes in as its ``content_stems`` joined by spaces and is cut at white space
only, so chunks and questions are analysed by the same code, whatever their script.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from citeloop.errors import StoreBusy, StoreCorrupt
from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.knowledge.indexes import TermStatistics
from citeloop.retrieval.term_weights import inverse_document_frequency
from citeloop.text.words import content_stems

if TYPE_CHECKING:  # the extension module is loaded when the first index is opened
    from tantivy import IndexWriter, Query, Schema, Searcher

_WRITER_HEAP_BYTES = 15_000_000  # the least that tantivy takes: a writer lives for one call
_MAX_OPEN = 128
"""Corpora kept open at a time; an open one holds its mapped files and one watcher thread of tantivy's."""
_EVERY = "1"
"""A term that every chunk has. Its frequency is the N of tantivy's own idf, which still counts deleted chunks until a
merge drops them (``Searcher.num_docs`` does not)."""


class _Commit(NamedTuple):
    """What changes in ``meta.json`` with each commit; tantivy replaces the file atomically."""

    inode: int
    mtime_ns: int
    size: int


class _OpenIndex(NamedTuple):
    commit: _Commit
    searcher: Searcher


class TantivyLexicalIndex:
    """``LexicalIndex`` over a folder that holds one tantivy index per corpus id.

    Scores are ``sum(weight * (k1 + 1) * tf / (tf + k1 * (1 - b + b * length / average length)))`` with k1 1.2, b 0.75,
    the weights given by the caller and the average length of the corpus searched.

    Thread-safe, and usable after a fork. A search sees every commit made before it began, by any process; a commit
    lands whole or not at all, also when the process is killed. Each call of ``upsert`` or ``delete`` is one commit
    (tens of milliseconds: give it many rows). Writing raises ``StoreBusy`` while another writer of the corpus is at
    work; an index that cannot be read raises ``StoreCorrupt``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened: dict[str, _OpenIndex] = {}

    def statistics(self, corpus: OpenCorpus, terms: Sequence[str]) -> TermStatistics:
        """See ``LexicalIndex``. Both counts include chunks deleted since the last merge, as in all of Lucene's kin."""
        with self._errors_told(corpus):
            searcher = self._searcher(corpus)
            if searcher is None:
                return TermStatistics(0, dict.fromkeys(terms, 0))
            return TermStatistics(_chunks(searcher), {term: searcher.doc_freq("stems", term) for term in terms})

    def search(self, corpus: OpenCorpus, term_weights: Mapping[str, float], top_k: int) -> list[Hit]:
        """See ``LexicalIndex``. Equal scores stand in the order of their ids."""
        with self._errors_told(corpus):
            searcher = self._searcher(corpus)
            if searcher is None or top_k < 1:
                return []
            query = _weighted_query(searcher, term_weights)
            found = searcher.search(query, top_k, count=False).hits
            hits = [Hit(searcher.doc(address)["chunk_id"][0], score) for score, address in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))

    def upsert(self, corpus: OpenCorpus, rows: Sequence[tuple[str, str]]) -> None:
        """See ``LexicalIndex``. Of several rows with one id the last stays."""
        if not rows:
            return
        from tantivy import Document

        with self._writer(corpus) as writer:
            for chunk_id, text in rows:
                writer.delete_documents_by_term("chunk_id", chunk_id)
                stems = " ".join(content_stems(text))
                writer.add_document(Document(chunk_id=chunk_id, stems=stems, every=_EVERY))

    def delete(self, corpus: OpenCorpus, chunk_ids: Sequence[str]) -> None:
        """See ``LexicalIndex``."""
        if not chunk_ids or not self._path(corpus).exists():
            return
        with self._writer(corpus) as writer:
            for chunk_id in chunk_ids:
                writer.delete_documents_by_term("chunk_id", chunk_id)

    def drop(self, corpus: OpenCorpus) -> None:
        """Remove the whole index of the corpus, readable or not; none there is passed over."""
        self._opened.pop(corpus.id, None)
        shutil.rmtree(self._path(corpus), ignore_errors=True)

    def holds(self, corpus: OpenCorpus) -> bool:
        """See ``LexicalIndex``."""
        return _last_commit(self._path(corpus)) is not None

    def _path(self, corpus: OpenCorpus) -> Path:
        return self._folder / corpus.id

    def _searcher(self, corpus: OpenCorpus) -> Searcher | None:
        """A view of the last commit, or None where nothing was ever written."""
        commit = _last_commit(self._path(corpus))
        if commit is None:
            return None
        opened = self._opened.get(corpus.id)
        if opened is not None and opened.commit == commit:
            return opened.searcher
        return self._open(corpus, commit)

    def _open(self, corpus: OpenCorpus, commit: _Commit) -> Searcher:
        from tantivy import Index

        # No lock, so none is left held after a fork: threads that open a corpus at once both get a true view of it. A
        # commit made since `commit` was read is in that view too: at worst the next search opens it once more.
        searcher = Index.open(str(self._path(corpus))).searcher()
        if len(self._opened) >= _MAX_OPEN:
            self._opened.clear()
        self._opened[corpus.id] = _OpenIndex(commit, searcher)
        return searcher

    @contextmanager
    def _writer(self, corpus: OpenCorpus) -> Iterator[IndexWriter]:
        from tantivy import Index

        path = self._path(corpus)
        path.mkdir(parents=True, exist_ok=True)
        with self._errors_told(corpus):
            writer = Index(_schema(), path=str(path)).writer(_WRITER_HEAP_BYTES, num_threads=1)
            try:
                yield writer
                writer.commit()
            finally:
                writer.wait_merging_threads()

    @contextmanager
    def _errors_told(self, corpus: OpenCorpus) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if not _is_from_tantivy(error):
                raise
            if "LockBusy" in str(error):
                raise StoreBusy(
                    f"the keyword index of corpus {corpus.name!r} is being written to; try again when that has ended"
                ) from error
            raise StoreCorrupt(
                f"the keyword index of corpus {corpus.name!r} cannot be read; "
                f"delete the folder {self._path(corpus)} and index the corpus again"
            ) from error


def _is_from_tantivy(error: BaseException) -> bool:
    """A held lock and unreadable files come as ``ValueError``; bytes that make no sense may end in a Rust panic, which
    pyo3 raises as a ``BaseException`` of a class that no module exports."""
    return isinstance(error, ValueError) or type(error).__name__ == "PanicException"


@cache
def _schema() -> Schema:
    from tantivy import SchemaBuilder

    builder = SchemaBuilder()
    builder.add_text_field("chunk_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("stems", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("every", tokenizer_name="raw", index_option="basic")
    return builder.build()


def _last_commit(path: Path) -> _Commit | None:
    try:
        meta = (path / "meta.json").stat()
    except FileNotFoundError:
        return None
    return _Commit(meta.st_ino, meta.st_mtime_ns, meta.st_size)


def _chunks(searcher: Searcher) -> int:
    return searcher.doc_freq("every", _EVERY)


def _weighted_query(searcher: Searcher, term_weights: Mapping[str, float]) -> Query:
    """Any of the terms, each boosted so that its own idf in this corpus gives way to the weight asked for."""
    from tantivy import Occur, Query

    chunks = _chunks(searcher)
    schema = _schema()
    clauses = []
    for term, weight in term_weights.items():
        frequency = searcher.doc_freq("stems", term)
        if frequency and weight > 0:
            query = Query.term_query(schema, "stems", term, index_option="freq")
            boost = weight / inverse_document_frequency(chunks, frequency)
            clauses.append((Occur.Should, Query.boost_query(query, boost)))
    return Query.boolean_query(clauses)
