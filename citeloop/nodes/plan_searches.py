"""Which queries go to which corpora, and how deep."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.retrieval.query_plan import queries_in_hop, queries_of
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
    """One task per query of this hop and corpus open to the caller.

    ``simple`` fetches a few, a widened search goes deeper.
    """
    settings = run_config(runtime.context, state["request"])
    request = state["request"]
    asked = queries_in_hop(state["queries"], state["hop"]) or queries_of([request["question"]], "question")
    depths = {
        query["text"]: settings.search_depth(
            state["analysis"]["strategy"], widened=state["correction"] == "widen", origin=query["origin"]
        )
        for query in asked
    }
    branches = await workers.run(searcher.plan, list(depths), request["corpora"], caller_of(config))
    tasks = [
        SearchTask(
            round=state["round"],
            query=branch.query,
            corpus=branch.corpus,
            depth=depths[branch.query],
            term_weights=branch.term_weights,
            timeout_s=settings.search_timeout_s,
            command=request["command"],
            access_reason=request["access_reason"],
        )
        for branch in branches
    ]
    return Planned(search_tasks=tasks)
