"""Which queries go to which corpora, and how deep."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import QueryState, SearchTask
from citeloop.workers import WorkerPool

_WIDER = 2
"""How many times deeper a widened search goes."""


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
    settings = run_config(runtime.context)
    widened = state["correction"] == "widen"
    simple = state["analysis"]["strategy"] == "simple" and not widened
    depth = settings.default_top_k if simple else settings.max_top_k
    request = state["request"]

    def plan() -> list[SearchTask]:
        return searcher.plan(
            [request["question"]],
            request["corpora"],
            caller_of(config),
            round=state["round"],
            depth=depth * _WIDER if widened else depth,
            timeout_s=settings.search_timeout_s,
        )

    return Planned(search_tasks=await workers.run(plan))
