"""The nodes of the query graph in the order in which a branch of ``sub_questions`` takes them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from citeloop.models.chat_caller import ChatCaller
from citeloop.nodes.assemble_context import assemble_context
from citeloop.nodes.fuse_results import fuse_results
from citeloop.nodes.generate_answer import generate_answer
from citeloop.nodes.plan_searches import plan_searches
from citeloop.nodes.rerank_chunks import rerank_chunks
from citeloop.nodes.search_corpus import search_corpus
from citeloop.nodes.validate_citations import validate_citations
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.rerank import Reranker
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import QueryState
from citeloop.state.reducers import union_by_key
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.workers import WorkerPool


@dataclass(frozen=True, slots=True)
class NodesInLine:
    """Calls the nodes one after the other, the searches side by side.

    A branch has no thread of its own: no draft of it is kept or streamed, and a time limit ends all of it. Corpora are
    opened as the caller in each node that reads, as everywhere.
    """

    searcher: HybridSearcher
    reader: PassageReader
    reranker: Reranker
    caller: ChatCaller
    verifier: DraftVerifier
    workers: WorkerPool

    async def run(self, state: QueryState, runtime: Runtime[RAGConfig], config: RunnableConfig) -> QueryState:
        """See ``nodes.research_sub_question.SubQuestionBranch``. Raises what the nodes raise."""
        w = self.workers
        state = _after(state, await plan_searches(state, runtime, config, searcher=self.searcher, workers=w))
        searches = [search_corpus(t, config, searcher=self.searcher, workers=w) for t in state["search_tasks"]]
        for found in await asyncio.gather(*searches):
            state = _after(state, found)
        state = _after(state, await fuse_results(state, runtime))
        ranked = await rerank_chunks(state, runtime, config, reader=self.reader, reranker=self.reranker, workers=w)
        state = _after(state, ranked)
        state = _after(state, await assemble_context(state, runtime, config, reader=self.reader, workers=w))
        if not state["passages"]:
            return state
        state = _after(state, await generate_answer(state, runtime, config, caller=self.caller))
        return _after(state, await validate_citations(state, runtime, verifier=self.verifier, workers=w))


_UNITED = ("ranked_lists", "search_failures", "tokens")


def _after(state: QueryState, update: Mapping[str, Any]) -> QueryState:
    """The state after a node, fan-ins united as in the graph."""
    united = {key: union_by_key(state[key], update[key]) for key in _UNITED if isinstance(update.get(key), dict)}  # type: ignore[literal-required]
    return cast(QueryState, {**state, **update, **united})
