"""Whether the passages of the hops so far cover the question, or another hop may help (ADR-031, multi_hop)."""

import time
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.knowledge.corpus import Chunk
from citeloop.retrieval.follow_ups import open_words
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.query_plan import queries_in_hop
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Coverage, QueryState
from citeloop.workers import WorkerPool


class Covered(TypedDict):
    """What is still open, and the hop told in the trace."""

    coverage: Coverage
    trace: dict[str, Any]


async def check_coverage(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    reader: PassageReader,
    workers: WorkerPool,
) -> Covered:
    """Stop when every word of the question stands in a good passage, the last hop brought nothing, or hops or time are
    used up (ADR-031, _sufficient_coverage); search on otherwise.

    A passage is good from ``similarity_threshold`` on. Where none is, the whole question is open. One of stop words
    alone has nothing that could be looked for.
    """
    settings = run_config(runtime.context, state["request"])
    best = state["candidates"][: settings.passages_wanted(state["analysis"]["strategy"])]
    good = [candidate for candidate in best if candidate["score"] >= settings.similarity_threshold]

    def read() -> list[Chunk]:
        return list(reader.read_with_sentences(good, caller_of(config))[0].values())

    still_open = open_words(state["request"]["question"], await workers.run(read))
    best_ids = sorted({candidate["chunk_id"] for candidate in best})
    reason = _reason_to_stop(state, settings, still_open, best_ids)
    told = reason or f"{len(good)} passages are good; open: {', '.join(still_open)}"
    return Covered(
        coverage=Coverage(decision="stop" if reason else "search", open=still_open, best_ids=best_ids),
        trace={"hops": [*state["trace"].get("hops", ()), _told(state, still_open, told)]},
    )


def _reason_to_stop(state: QueryState, settings: RAGConfig, still_open: list[str], best_ids: list[str]) -> str:
    before = state["coverage"]
    if not still_open:
        return "every word of the question stands in a good passage"
    if before is not None and before["best_ids"] == best_ids:
        return "the last hop brought no better passage"
    if state["hop"] + 1 >= settings.max_hops:
        return f"the limit of {settings.max_hops} hops is reached"
    elapsed_ms = 1000 * (time.time() - state["request"]["started_at"])
    return "the time is used up" if elapsed_ms >= settings.latency_budget_ms else ""


def _told(state: QueryState, still_open: list[str], told: str) -> dict[str, Any]:
    asked = queries_in_hop(state["queries"], state["hop"])
    return {
        "hop": state["hop"] + 1,
        "queries": [{"query": query["text"], "about": query.get("about", "")} for query in asked],
        "open": still_open,
        "note": told,
    }
