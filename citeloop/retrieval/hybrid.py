"""One query in one corpus, by meaning and by words."""

from collections.abc import Sequence
from dataclasses import dataclass

from citeloop.knowledge.corpus import Hit
from citeloop.knowledge.embedding import require_embedding_model
from citeloop.knowledge.indexes import LexicalIndex, VectorIndex
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Embedder
from citeloop.retrieval.term_weights import global_term_weights
from citeloop.state.graph_state import RankedList, SearchMethod, SearchTask
from citeloop.state.models import UserContext
from citeloop.text.words import content_stems


@dataclass(frozen=True, slots=True)
class HybridSearcher:
    """Plans and runs searches. Blocking and thread-safe: call it from worker threads.

    Every call opens its corpora anew with the caller's identity: a task says what to search, never what is allowed.
    """

    store: HierarchicalKnowledgeStore
    vector_index: VectorIndex
    lexical_index: LexicalIndex
    embedder: Embedder

    def plan(
        self,
        queries: Sequence[str],
        corpora: Sequence[str] | None,
        caller: UserContext,
        *,
        round: int,
        depth: int,
        timeout_s: float,
    ) -> list[SearchTask]:
        """One task per query and open corpus; term weights are counted over all corpora of the search together."""
        opened = self.store.open_corpora(corpora, caller)
        tasks = []
        for query in queries:
            stems = sorted(set(content_stems(query)))
            weights = (
                global_term_weights(self.lexical_index.statistics(corpus, stems) for corpus in opened) if stems else {}
            )
            tasks += [
                SearchTask(
                    round=round, query=query, corpus=corpus.name, depth=depth, term_weights=weights, timeout_s=timeout_s
                )
                for corpus in opened
            ]
        return tasks

    def search(self, task: SearchTask, caller: UserContext) -> list[RankedList]:
        """The dense list of the task's corpus and, where the task has term weights, the lexical one.

        Raises ``EmbeddingMismatch`` where another model filled the corpus: its vectors would rank at random.
        """
        corpus = self.store.open_corpus(task["corpus"], caller)
        require_embedding_model(corpus, self.embedder)
        query_vector = self.embedder.embed([task["query"]])[0]
        lists = [_ranked(task, "dense", self.vector_index.search(corpus, query_vector, task["depth"]))]
        if task["term_weights"]:
            hits = self.lexical_index.search(corpus, task["term_weights"], task["depth"])
            lists.append(_ranked(task, "lexical", hits))
        return lists


def _ranked(task: SearchTask, method: SearchMethod, hits: Sequence[Hit]) -> RankedList:
    plain = [(chunk_id, score) for chunk_id, score in hits]
    return RankedList(query=task["query"], corpus=task["corpus"], method=method, hits=plain)
