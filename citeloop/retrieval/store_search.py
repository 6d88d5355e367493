"""The corpora of the knowledge store as a search: what the served multi-query graphs look in."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig

from citeloop.governance.identity import caller_of
from citeloop.retrieval.document_search import Corpora, Found
from citeloop.retrieval.hybrid import CorpusQuery, HybridSearcher, SearchOutcome
from citeloop.retrieval.passages import PassageReader, numbered_passage
from citeloop.retrieval.query_fusion import merge_corpora
from citeloop.retrieval.rank_fusion import FusedHit, reciprocal_rank_fusion
from citeloop.state.graph_state import Candidate, Passage, RankedList
from citeloop.state.models import UserContext
from citeloop.workers import WorkerPool

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoreSearch:
    """Searches every corpus by meaning and by words, each in a worker thread, and fuses what they found by rank.

    Corpora are opened as the caller of the run, each time, for searching and for reading: whatever a task asks for.
    """

    searcher: HybridSearcher
    reader: PassageReader
    workers: WorkerPool

    async def require_open(self, corpora: Corpora, config: RunnableConfig) -> None:
        """See ``DocumentSearch``."""
        await self.workers.run(self.searcher.store.open_corpora, corpora, caller_of(config))

    async def search(self, query: str, depth: int, corpora: Corpora, config: RunnableConfig) -> Found:
        """See ``DocumentSearch``. A corpus or an index that fails drops out; raises its error when none is left."""
        caller = caller_of(config)
        plan = await self.workers.run(self.searcher.plan, [query], corpora, caller)
        queries = [CorpusQuery(query=b.query, corpus=b.corpus, depth=depth, term_weights=b.term_weights) for b in plan]
        searches = (self.workers.run(self.searcher.search, one, caller) for one in queries)
        outcomes = await asyncio.gather(*searches, return_exceptions=True)
        answered = [outcome for outcome in outcomes if isinstance(outcome, SearchOutcome)]
        failed = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if failed and not answered:
            raise failed[0]
        lists = [ranked for outcome in answered for ranked in outcome.lists]
        failures = [f"{type(error).__name__}: {error}" for error in failed]
        failures += [reason for outcome in answered for reason in outcome.failures.values()]
        for reason in failures:
            _log.warning("a part of the search dropped out: %s", reason)
        return Found(await self.workers.run(self._read, _fuse(lists, depth), lists, caller), failures)

    def _read(self, hits: Sequence[FusedHit], lists: Iterable[RankedList], caller: UserContext) -> list[Passage]:
        corpus_of = {hit[0]: ranked["corpus"] for ranked in lists for hit in ranked["hits"]}
        wanted = [Candidate(chunk_id=h.id, corpus=corpus_of[h.id], document_uri="", score=h.score) for h in hits]
        chunks, _ = self.reader.read_with_sentences(wanted, caller)
        there = [hit for hit in hits if hit.id in chunks]  # a chunk may have left the store since it was found
        return [numbered_passage(rank, chunks[hit.id], hit.score) for rank, hit in enumerate(there, start=1)]


def _fuse(lists: Iterable[RankedList], depth: int) -> list[FusedHit]:
    """The best ``depth``: the methods of the query, their corpora merged, fused by rank."""
    merged = merge_corpora(lists, depth)
    return reciprocal_rank_fusion([[hit.chunk_id for hit in hits] for hits in merged.values()])[:depth]
