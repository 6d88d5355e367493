"""One query in one corpus, by meaning and by words."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from typing_extensions import TypedDict

from citeloop.errors import StoreCorrupt, StoreError
from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.knowledge.embedding import require_embedding_model
from citeloop.knowledge.indexes import LexicalIndex, TermStatistics, VectorIndex
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Embedder
from citeloop.retrieval.term_weights import global_term_weights
from citeloop.state.graph_state import RankedList, SearchMethod
from citeloop.state.models import UserContext
from citeloop.text.words import content_stems

_log = logging.getLogger(__name__)


class Branch(NamedTuple):
    """A search to run."""

    query: str
    corpus: str
    term_weights: dict[str, float]


class CorpusQuery(TypedDict):
    """One query in one corpus: what a search reads of a task."""

    query: str
    corpus: str
    depth: int
    term_weights: dict[str, float]


class SearchOutcome(NamedTuple):
    """What a search of one corpus found by each method, and why a method found nothing it could say."""

    lists: list[RankedList]
    failures: dict[SearchMethod, str]


@dataclass(frozen=True, slots=True)
class HybridSearcher:
    """Plans and runs searches. Blocking and thread-safe: call it from worker threads.

    Every call opens its corpora anew with the caller's identity: a task says what to search, never what is allowed.
    """

    store: HierarchicalKnowledgeStore
    vector_index: VectorIndex
    lexical_index: LexicalIndex
    embedder: Embedder

    def plan(self, queries: Sequence[str], corpora: Sequence[str] | None, caller: UserContext) -> list[Branch]:
        """One branch per query and open corpus; term weights are counted over all corpora of the search together."""
        opened = self.store.open_corpora(corpora, caller)
        if len(queries) > 1:
            self.embedder.embed(queries)  # in one batch: the searches find the vectors remembered
        branches = []
        for query in queries:
            stems = sorted(set(content_stems(query)))
            weights = global_term_weights(self._statistics(corpus, stems) for corpus in opened) if stems else {}
            branches += [Branch(query, corpus.name, weights) for corpus in opened]
        return branches

    def search(self, task: CorpusQuery, caller: UserContext) -> SearchOutcome:
        """The dense list of the task's corpus, and the lexical one.

        A damaged or lost index costs its own list only. Raises ``EmbeddingMismatch`` where another model filled the
        corpus: its vectors would rank at random.
        """
        corpus = self.store.open_corpus(task["corpus"], caller)
        require_embedding_model(corpus, self.embedder)
        query_vector = self.embedder.embed([task["query"]])[0]
        weights, depth = task["term_weights"], task["depth"]
        searches: dict[SearchMethod, tuple[VectorIndex | LexicalIndex, Callable[[], list[Hit]]]] = {
            "dense": (self.vector_index, lambda: self.vector_index.search(corpus, query_vector, depth)),
            "lexical": (self.lexical_index, lambda: self.lexical_index.search(corpus, weights, depth)),
        }
        outcome = SearchOutcome([], {})
        for method, (index, search) in searches.items():
            try:
                hits = search()
                if not hits:
                    self._require_index(corpus, index, method)
                outcome.lists.append(ranked_list(task, method, hits))
            except StoreError as error:
                outcome.failures[method] = f"{type(error).__name__}: {error}"
        return outcome

    def _require_index(self, corpus: OpenCorpus, index: VectorIndex | LexicalIndex, method: SearchMethod) -> None:
        """Tell an index that was lost from one without a match."""
        if not index.holds(corpus) and self.store.corpus_summary(corpus).chunks:
            raise StoreCorrupt(
                f"the {method} index of corpus {corpus.name!r} is gone, or its first documents are just being indexed; "
                "run `citeloop index` again: it is put back from the store"
            )

    def _statistics(self, corpus: OpenCorpus, stems: Sequence[str]) -> TermStatistics:
        try:
            return self.lexical_index.statistics(corpus, stems)
        except StoreError as error:  # the search of this corpus tells it again, where it is recorded
            _log.warning("the words of corpus %s are not counted: %s", corpus.name, error)
            return TermStatistics(0, {})


def ranked_list(task: CorpusQuery, method: SearchMethod, hits: Sequence[Hit]) -> RankedList:
    """``hits`` as state holds them."""
    plain = [(chunk_id, score) for chunk_id, score in hits]
    return RankedList(query=task["query"], corpus=task["corpus"], method=method, hits=plain)
