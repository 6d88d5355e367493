"""Which queries go to which corpora, and how deep."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import QueryState, SearchTask
from citeloop.workers import WorkerPool


class Planned(TypedDict):
    """The searches of this round."""

    search_tasks: list[SearchTask]


async def plan_searches(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    searcher: HybridSearcher,
    workers: WorkerPool,
) -> Planned:
    """One task per query and corpus open to the caller; ``simple`` fetches a few, a widened search goes deeper."""
    settings = run_config(runtime.context, state["request"])
    request = state["request"]
    depth = settings.search_depth(state["analysis"]["strategy"], widened=state["correction"] == "widen")
    queries = [query["text"] for query in state["queries"]] or [request["question"]]
    branches = await workers.run(searcher.plan, queries, request["corpora"], caller_of(config))
    tasks = [
        SearchTask(
            round=state["round"],
            query=branch.query,
            corpus=branch.corpus,
            depth=depth,
            term_weights=branch.term_weights,
            timeout_s=settings.search_timeout_s,
            command=request["command"],
            access_reason=request["access_reason"],
        )
        for branch in branches
    ]
    return Planned(search_tasks=tasks)
