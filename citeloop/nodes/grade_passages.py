"""Whether the passages are good enough to answer from (Corrective RAG, Yan et al. 2024; ADR-031, Corrective RAG)."""

import time
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.relevance import probability
from citeloop.retrieval.rerank import Reranker
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Grading, QueryState
from citeloop.workers import WorkerPool


class Graded(TypedDict):
    """The grades, what follows from them, and both told in the trace."""

    grading: Grading
    trace: dict[str, Any]


async def grade_passages(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    reader: PassageReader,
    reranker: Reranker,
    workers: WorkerPool,
) -> Graded:
    """Grade what would stand before the generator: good is a passage that reaches ``similarity_threshold``.

    The reranker's probabilities are the grades; where it had no part in the ranking (``simple``), it grades the few
    passages here. When none is good, the question is rewritten and searched once more; after that, ``refuse`` refuses,
    and ``retry`` leaves it to the validation of the answer.
    """
    settings, strategy = run_config(runtime.context, state["request"]), state["analysis"]["strategy"]
    fetched = state["candidates"][: settings.passages_ranked(strategy)]

    def grade() -> list[float]:
        chunks, sentences = reader.read_with_sentences(fetched, caller_of(config))
        in_order = [chunks[one["chunk_id"]] for one in fetched if one["chunk_id"] in chunks]
        grades: list[float] = probability(reranker.rerank(state["request"]["question"], in_order, sentences)).tolist()
        return grades

    is_graded = state["ranked_by"] == reranker.name
    grades = [one["score"] for one in fetched] if is_graded else await workers.run(grade)
    shown = grades[: settings.passages_wanted(strategy)]
    good = sum(grade >= settings.similarity_threshold for grade in shown)
    grading = Grading(
        decision="generate" if good or not shown else _without_a_good_one(state, settings),
        best=round(max(shown, default=0.0), 6),
        good=good,
    )
    return Graded(grading=grading, trace={"grading": [*state["trace"].get("grading", ()), _told(grading, settings)]})


def _without_a_good_one(state: QueryState, settings: RAGConfig) -> Literal["generate", "rewrite", "refuse"]:
    """Strategies that search for more than the question have rewritten it already."""
    elapsed_ms = 1000 * (time.time() - state["request"]["started_at"])
    can_retry = len(state["queries"]) == 1 and not state["hop"] and elapsed_ms < settings.latency_budget_ms
    match settings.corrective_retrieval:
        case "off":
            return "generate"
        case _ if can_retry:
            return "rewrite"
        case "retry":
            return "generate"
        case _:
            return "refuse"


def _told(grading: Grading, settings: RAGConfig) -> dict[str, Any]:
    found = f"{grading['good']} passages reach {settings.similarity_threshold}; the best has {grading['best']:.2f}"
    return {**grading, "note": f"{found}: {grading['decision']}"}
