"""The full scan of corpora (ADR-031, exhaustive): every stored vector is looked at, a shard at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citeloop.errors import StoreError
from citeloop.knowledge.embedding import require_embedding_model
from citeloop.knowledge.vector_rows import Shard, cut_shards, read_shard
from citeloop.retrieval.exact import nearest_in_batches
from citeloop.retrieval.hybrid import HybridSearcher, SearchOutcome, ranked_list
from citeloop.state.graph_state import ScanTask
from citeloop.state.models import UserContext


class ScanBranch(NamedTuple):
    """A shard to scan for a query."""

    query: str
    corpus: str
    term_weights: dict[str, float]
    number: int
    """Of the shard in its corpus, from 0."""
    shard: Shard


@dataclass(frozen=True, slots=True)
class CorpusScanner:
    """Plans and runs scans, with the store, the words and the embedder of ``searcher``. Blocking and thread-safe.

    A scan needs no vector index and misses nothing. Memory is bounded by a thousand rows for each worker thread.
    Every call opens its corpora anew with the caller's identity.
    """

    searcher: HybridSearcher

    def plan(
        self, queries: Sequence[str], corpora: Sequence[str] | None, caller: UserContext, shard_rows: int
    ) -> list[ScanBranch]:
        """One branch per query and shard of the corpora open to the caller; an empty corpus has none."""
        return [
            ScanBranch(branch.query, branch.corpus, branch.term_weights, number, shard)
            for branch in self.searcher.plan(queries, corpora, caller)
            for number, shard in enumerate(self._shards(branch.corpus, caller, shard_rows))
        ]

    def scan(self, task: ScanTask, caller: UserContext) -> SearchOutcome:
        """The shard's nearest chunks by exact cosine, ``depth`` of them.

        With the first shard of a corpus come its best chunks by words: BM25 scores every chunk that holds one anyway. A
        damaged or lost index of words costs that list only. Raises ``EmbeddingMismatch`` where another model filled the
        corpus.
        """
        searcher = self.searcher
        corpus = searcher.store.open_corpus(task["corpus"], caller)
        require_embedding_model(corpus, searcher.embedder)
        query_vector = searcher.embedder.embed([task["query"]])[0]
        rows = read_shard(searcher.store, corpus, task["first_row"], task["last_row"])
        found = nearest_in_batches(rows, query_vector, task["depth"])
        outcome = SearchOutcome([ranked_list(task, "scan", found)], {})
        if task["shard"] == 0:
            try:
                by_words = searcher.lexical_index.search(corpus, task["term_weights"], task["depth"])
                outcome.lists.append(ranked_list(task, "lexical", by_words))
            except StoreError as error:
                outcome.failures["lexical"] = f"{type(error).__name__}: {error}"
        return outcome

    def _shards(self, name: str, caller: UserContext, shard_rows: int) -> list[Shard]:
        return cut_shards(self.searcher.store, self.searcher.store.open_corpus(name, caller), shard_rows)
