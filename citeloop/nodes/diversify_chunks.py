"""The candidates of a full scan, those first that together cover most."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.coverage import CoverageOrder
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Candidate, QueryState
from citeloop.workers import WorkerPool


class Diversified(TypedDict):
    """The candidates in the order in which they add most to what stands before them."""

    candidates: list[Candidate]
    trace: dict[str, Any]


async def diversify_chunks(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    coverage: CoverageOrder,
    workers: WorkerPool,
) -> Diversified:
    """Order by maximal marginal relevance, so that an open question gets the breadth of the corpora.

    The reranker's order is the relevance. A chunk that left the store since it was found leaves the candidates here.
    """
    settings = run_config(runtime.context, state["request"])
    is_wider = state["correction"] == "widen"
    wanted = max(
        settings.passages_wanted(state["analysis"]["strategy"], widened=is_wider),
        settings.passages_mapped(widened=is_wider),
    )

    def diversify() -> Diversified:
        placed = coverage.read(state["candidates"], caller_of(config))
        ordered = coverage.order(state["candidates"], placed, settings.coverage_lambda, wanted)
        told = {
            "candidates": len(ordered),
            "documents": len({place.document_id for place in placed.values()}),
            "sections": len({place.section_id for place in placed.values()}),
            "chosen_by": f"maximal marginal relevance, lambda {settings.coverage_lambda:g}",
        }
        return Diversified(candidates=ordered, trace={"coverage": told})

    return await workers.run(diversify)
