"""From the chunks of a corpus to typed relations between the entities they name, by a chat model. Safe to kill."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from filelock import FileLock, Timeout

from citeloop.errors import ModelUnavailable, StoreBusy
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.relation_report import OnRelationProgress, RelationReport
from citeloop.knowledge.relation_writer import UnreadChunk, count_unread, keep_readings, unread_after
from citeloop.knowledge.rights import find_writable
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.relation_extractor import ExtractedRelations
from citeloop.state.models import UserContext

_CHUNKS_AT_A_TIME = 256
"""Unread chunks fetched together."""
_MOST_OUTAGES = 8
"""Calls in a row that fail for want of the endpoint, at which a run gives up: the rest would fail as well."""


class ReadsRelations(Protocol):
    """What reads one passage: ``RelationExtractor``."""

    async def extract(self, title: str, heading_path: Sequence[str], text: str) -> ExtractedRelations:
        """The relations found in it, unchecked; a failure is told, never raised."""


class RelationIndexer:
    """Reads the chunks of a corpus that were not read yet. One run at a time in a home folder; beside it documents can
    be indexed and questions asked."""

    def __init__(self, store: HierarchicalKnowledgeStore, extractor: ReadsRelations) -> None:
        self._store = store
        self._extractor = extractor

    def read(
        self, corpus_name: str, caller: UserContext, *, calls: int = 4, progress: OnRelationProgress = lambda _: None
    ) -> RelationReport:
        """Send each unread chunk, at most ``calls`` at once, and store what comes back as it comes.

        ``progress`` is told before the first call and after each that was stored. A chunk that fails is counted, noted,
        and tried again by the next run. Killed at any moment and run again, it sends what was not stored. Blocking: in
        an event loop call it in a thread.

        Raises:
            CorpusNotFound: there is no such corpus, or it is another's.
            StoreBusy: another run is reading relations in this home folder.
            ModelUnavailable: the endpoint failed several calls in a row; what was read before is kept.
        """
        with self._store.file.reading() as connection:
            corpus = find_writable(connection, corpus_name, self._store.policy.principals(caller))
        lock = self._store.file.path.with_name("relations.lock")
        try:
            with FileLock(lock, timeout=0):
                return asyncio.run(_Run(self._store, corpus, self._extractor, progress).complete(calls))
        except Timeout as error:
            raise StoreBusy(
                f"another process reads relations into {lock.parent}; wait until it has ended, then run it again"
            ) from error


@dataclass(slots=True)
class _Run:
    """One run over one corpus."""

    store: HierarchicalKnowledgeStore
    corpus: OpenCorpus
    extractor: ReadsRelations
    progress: OnRelationProgress
    report: RelationReport = field(init=False)
    outages: list[str] = field(default_factory=list)
    """Why the last calls failed, as far as all of them did so for want of the endpoint."""

    async def complete(self, calls: int) -> RelationReport:
        started = time.monotonic()
        with self.store.file.reading() as connection:
            self.report = RelationReport(self.corpus.name, count_unread(connection, self.corpus))
        self.progress(self.report)
        running: set[asyncio.Task[tuple[UnreadChunk, ExtractedRelations]]] = set()
        try:
            for chunk in self._unread():
                running.add(asyncio.create_task(self._extract(chunk)))
                if len(running) >= calls:
                    running = await self._keep_first(running)
            while running:
                running = await self._keep_first(running)
            self._give_up_after(self.report.chunks)  # so few that all of them failed
        finally:
            for task in running:
                task.cancel()
        self.report.seconds = time.monotonic() - started
        return self.report

    def _unread(self) -> Iterator[UnreadChunk]:
        last = 0
        while page := self._page(last):
            last = page[-1].row
            yield from page

    def _page(self, last: int) -> list[UnreadChunk]:
        with self.store.file.reading() as connection:
            return unread_after(connection, self.corpus, last, _CHUNKS_AT_A_TIME)

    async def _extract(self, chunk: UnreadChunk) -> tuple[UnreadChunk, ExtractedRelations]:
        return chunk, await self.extractor.extract(chunk.title, chunk.heading_path, chunk.text)

    async def _keep_first(
        self, running: set[asyncio.Task[tuple[UnreadChunk, ExtractedRelations]]]
    ) -> set[asyncio.Task[tuple[UnreadChunk, ExtractedRelations]]]:
        """Wait until some calls have ended and store what they gave, all or none of it; those that still run."""
        done, others = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        readings = sorted((task.result() for task in done), key=lambda reading: reading[0].row)
        self.report.relations += await asyncio.to_thread(self._keep, readings)
        for _, read in readings:
            self._count(read)
        self.progress(self.report)
        self._give_up_after(_MOST_OUTAGES)
        return others

    def _keep(self, readings: Sequence[tuple[UnreadChunk, ExtractedRelations]]) -> int:
        with self.store.file.amending() as connection:
            return keep_readings(connection, self.corpus, readings)

    def _count(self, read: ExtractedRelations) -> None:
        self.report.chunks += 1
        self.report.tokens_in += read.tokens_in
        self.report.tokens_out += read.tokens_out
        if read.failure:
            self.report.failed += 1
            self.report.failures[read.failure] = self.report.failures.get(read.failure, 0) + 1
        self.outages = [*self.outages, read.failure] if read.is_outage else []

    def _give_up_after(self, outages: int) -> None:
        if 0 < outages <= len(self.outages):
            raise ModelUnavailable(
                f"reading relations stopped after {len(self.outages)} failed calls in a row ({self.outages[-1]}); "
                "what was read before is kept: run it again when that is mended"
            )
