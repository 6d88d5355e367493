"""A Chroma folder that several processes use: one writes at a time, many read, any of them may be killed.

Chroma itself is made for one process. A client keeps what it has loaded of a collection and never looks again; it
saves a collection's graph in place, so that whoever loads it meanwhile reads half of it, and a process killed meanwhile
leaves half of it. Hence, per collection, a mark beside the data: empty while it is being written, else the name of its
last write. Loading and writing take one lock, and nothing is loaded whose mark says that a write did not end. A loaded
collection is in memory and is searched without the lock; when the mark shows a later write, it is loaded anew.
"""

from __future__ import annotations

import gc
import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from filelock import FileLock, Timeout

from citeloop.errors import StoreBusy, StoreCorrupt
from citeloop.fork import call_after_fork
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.retrieval.chroma_client import connect, require_no_fork

if TYPE_CHECKING:  # Chroma takes long to import: it is loaded with the first search
    from chromadb import Collection
    from chromadb.api import ClientAPI

_LOCK_TIMEOUT_S = 20.0
_BEING_WRITTEN = ""
_CATALOGUE = "chroma.sqlite3"


class _Loaded(NamedTuple):
    mark: str
    collection: Collection


class _Session(NamedTuple):
    """A client and what it has loaded, by name. Replaced, never refreshed: searches under way keep theirs."""

    catalogue: int
    """Inode of the file it was opened over: it does not notice when that is deleted."""
    client: ClientAPI
    loaded: dict[str, _Loaded]


class ChromaFolder:
    """Hands out the collection of a corpus, for reading and for writing. Thread-safe.

    Raises:
        UsageError: the process was forked from one that had used Chroma.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._session: _Session | None = None
        self._opening = Lock()
        call_after_fork(self._renew_lock)

    def read(self, corpus: OpenCorpus) -> Collection | None:
        """The collection as of its last write, or None where there is none.

        Raises:
            StoreCorrupt: a write to it did not end, or the data cannot be read.
            StoreBusy: another process keeps the folder locked.
        """
        require_no_fork()
        name = _collection_name(corpus)
        mark = self._mark(name)
        if mark is None:
            return None
        loaded = self._session.loaded.get(name) if self._session else None
        if loaded and mark in (loaded.mark, _BEING_WRITTEN):
            return loaded.collection
        with self._locked(corpus):
            return self._load(name, corpus)

    @contextmanager
    def reading_anew(self, corpus: OpenCorpus) -> Iterator[Collection | None]:
        """As ``read``, but loaded again and with all writers kept out: what goes wrong in the block is true damage."""
        name = _collection_name(corpus)
        with self._locked(corpus):
            if self._session:
                self._session.loaded.pop(name, None)
            yield self._load(name, corpus)

    @contextmanager
    def writing(self, corpus: OpenCorpus) -> Iterator[Collection]:
        """The collection, made if need be, for one change, which counts as done when the block ends without an error.

        Raises:
            StoreCorrupt: an earlier write to it did not end: drop it and write all of it again.
            StoreBusy: another process keeps the folder locked.
        """
        name = _collection_name(corpus)
        with self._locked(corpus):
            collection = self._load(name, corpus) or _create(self._open_session(), name, corpus)
            self._set_mark(name, _BEING_WRITTEN)
            yield collection
            self._open_session().loaded[name] = _Loaded(self._set_mark(name, uuid4().hex), collection)

    def drop(self, corpus: OpenCorpus) -> None:
        """Remove the collection, whole or torn; none there is passed over."""
        name = _collection_name(corpus)
        if not self._folder.exists():
            return
        with self._locked(corpus):
            self._set_mark(name, _BEING_WRITTEN)
            _delete(self._open_session(), name)
            self._remove_leftovers()
            self._mark_path(name).unlink()

    def is_whole(self, corpus: OpenCorpus) -> bool:
        """Whether the collection is there and its last write came to its end. Opens nothing."""
        return bool(self._mark(_collection_name(corpus))) and (self._folder / _CATALOGUE).exists()

    @contextmanager
    def _errors_told(self, corpus: OpenCorpus) -> Iterator[None]:
        """Turns an error of Chroma's into ``StoreCorrupt``."""
        from chromadb.errors import ChromaError

        try:
            yield
        except ChromaError as error:
            raise StoreCorrupt(
                f"the vectors of corpus {corpus.name!r} cannot be read ({error}); delete the folder {self._folder} "
                "and run `citeloop index` again: they are put back from the store"
            ) from error

    def _renew_lock(self) -> None:
        """In a forked child nobody lives who would release it, also where Chroma was not used yet."""
        self._opening = Lock()

    def _load(self, name: str, corpus: OpenCorpus) -> Collection | None:
        """The collection as of its mark; to be called under the lock."""
        mark = self._mark(name)
        if mark is None:
            return None
        if mark == _BEING_WRITTEN:
            raise StoreCorrupt(
                f"writing the vectors of corpus {corpus.name!r} was interrupted; run `citeloop index` to finish it"
            )
        session = self._open_session()
        if name in session.loaded and session.loaded[name].mark != mark:
            session = self._session = self._connect()
            gc.collect()  # a client is freed by the collector only, and the graphs it holds are large
        if name not in session.loaded:
            collection = session.client.get_collection(name, embedding_function=None)
            collection.query(query_embeddings=[1.0] * corpus.dimension, n_results=1)  # reads the graph, now
            session.loaded[name] = _Loaded(mark, collection)
        return session.loaded[name].collection

    def _open_session(self) -> _Session:
        if self._session is None or self._session.catalogue != self._catalogue():
            self._session = self._connect()
        return self._session

    def _connect(self) -> _Session:
        client = connect(self._folder)
        return _Session(self._catalogue(), client, {})

    def _catalogue(self) -> int:
        path = self._folder / _CATALOGUE
        return path.stat().st_ino if path.exists() else 0

    def _remove_leftovers(self) -> None:
        """Remove the graphs of deleted collections, which Chroma leaves on the disk."""
        with closing(sqlite3.connect(self._folder / _CATALOGUE)) as catalogue:
            kept = {segment for (segment,) in catalogue.execute("SELECT id FROM segments")}
        for graph in self._folder.glob("*/header.bin"):
            if graph.parent.name not in kept:
                shutil.rmtree(graph.parent)

    @contextmanager
    def _locked(self, corpus: OpenCorpus) -> Iterator[None]:
        require_no_fork()
        (self._folder / "marks").mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._folder / "access.lock", timeout=_LOCK_TIMEOUT_S)
        try:
            with self._opening, lock, self._errors_told(corpus):
                yield
        except Timeout as error:
            raise StoreBusy(
                f"another process keeps the vectors of corpus {corpus.name!r} locked; try again when it has ended"
            ) from error

    def _mark_path(self, name: str) -> Path:
        return self._folder / "marks" / name

    def _mark(self, name: str) -> str | None:
        try:
            return self._mark_path(name).read_text("ascii")
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:  # damaged: who knows what it marked
            return _BEING_WRITTEN

    def _set_mark(self, name: str, mark: str) -> str:
        self._mark_path(name).write_text(mark, "ascii")
        return mark


def _create(session: _Session, name: str, corpus: OpenCorpus) -> Collection:
    return session.client.get_or_create_collection(
        name,
        configuration={"hnsw": {"space": "cosine"}},
        metadata={"corpus": corpus.name, "embedding_model": corpus.embedding_model},
        embedding_function=None,
    )


def _delete(session: _Session, name: str) -> None:
    from chromadb.errors import NotFoundError

    session.loaded.pop(name, None)
    with suppress(NotFoundError):
        session.client.delete_collection(name)


def _collection_name(corpus: OpenCorpus) -> str:
    """Legal for Chroma whatever the corpus is called, and never shared by two corpora or two models."""
    return f"{corpus.id}-{hashlib.sha256(corpus.embedding_model.encode()).hexdigest()[:12]}"
