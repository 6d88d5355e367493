"""The candidates reordered by how well they answer the question."""

from collections.abc import Sequence

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.candidate_ranking import best_first, scored, trace_documents
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.prompt_passages import split_background
from citeloop.retrieval.query_plan import query_from
from citeloop.retrieval.relevance import probability
from citeloop.retrieval.rerank import Reranker
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Candidate, QueryState
from citeloop.workers import WorkerPool


class Reranked(TypedDict):
    """The candidates of this round, best first."""

    candidates: list[Candidate]
    ranked_trace: list[Candidate]
    ranked_by: str


async def rerank_chunks(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    reader: PassageReader,
    reranker: Reranker,
    workers: WorkerPool,
) -> Reranked:
    """Rerank what was fetched (ADR-031: over-fetch, then rerank); ``simple`` keeps the order of the search.

    Background is reranked by the step-back question that it was found for, and stays behind the rest; what follow-ups
    found keeps the place that their ranking gave it, and so does, in a second search of a round, what the first one
    found. A chunk that left the store since it was found leaves the candidates here.
    """
    settings = run_config(runtime.context, state["request"])
    reranks = settings.enable_reranking and (
        state["analysis"]["strategy"] != "simple" or state["correction"] == "widen" or state["hop"] > 0
    )
    questions = (state["request"]["question"], query_from(state["queries"], "step_back"))
    has_grades = state["hop"] > 0 and state["ranked_by"] == reranker.name
    kept = settings.passages_ranked(state["analysis"]["strategy"])
    fetched = state["candidates"] if reranks else state["candidates"][:kept]

    def rerank() -> list[Candidate]:
        chunks, sentences = reader.read_with_sentences(fetched, caller_of(config))
        found = [candidate for candidate in fetched if candidate["chunk_id"] in chunks]
        followed = [candidate for candidate in found if candidate.get("origin") == "follow_up"]
        asked = [candidate for candidate in found if candidate.get("origin") != "follow_up"]
        ranked: list[Candidate] = []
        for question, members in zip(questions, split_background(asked), strict=True):
            scores = [candidate["score"] for candidate in members]
            if reranks and members:
                in_order = [chunks[candidate["chunk_id"]] for candidate in members]
                scores = probability(reranker.rerank(question, in_order, sentences)).tolist()
                scores = _keep_grades(members, scores) if has_grades else scores
            ranked += best_first(scored(members, chunks, scores))
        return best_first([*ranked, *followed]) if followed else ranked

    ranked = await workers.run(rerank)
    return Reranked(
        candidates=ranked,
        ranked_trace=(state["round"] and state["ranked_trace"]) or trace_documents(ranked),
        ranked_by=reranker.name if reranks else "fused rank",
    )


def _keep_grades(members: Sequence[Candidate], scores: Sequence[float]) -> list[float]:
    """What was graded before keeps its grade: a further search adds passages, it does not reorder those there are."""
    return [
        candidate["score"] if candidate["document_uri"] else score
        for candidate, score in zip(members, scores, strict=True)
    ]
