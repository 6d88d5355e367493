"""From what was found to what that names: the entities of question and best hits, and the chunks they lead to."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, NotRequired

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.branch_failure import BRANCH_ENDS, branch_failure
from citeloop.governance.identity import caller_of
from citeloop.retrieval.candidate_ranking import scored, trace_documents
from citeloop.retrieval.entity_fusion import entities_of, fuse_walk, relations_of
from citeloop.retrieval.entity_walk import EntityWalker, Walk, WalkBounds
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.relevance import probability
from citeloop.retrieval.rerank import Reranker
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Candidate, QueryState, SearchFailure
from citeloop.state.models import UserContext
from citeloop.workers import WorkerPool

_log = logging.getLogger(__name__)

_TRACED = 10
"""Reached chunks kept in the trace."""


class WalkTrace(TypedDict):
    """The walk's part of the trace."""

    entities: dict[str, list[str]]
    """For each entity that led to candidates, as it was spelt, their chunk ids."""
    relations: NotRequired[dict[str, list[str]]]
    """The same for each relation, as ``subject -relation-> object``; absent where no walk of this turn found any."""


class Walked(TypedDict, total=False):
    """The candidates of this round with what the walk added, best first; or why it dropped out."""

    candidates: list[Candidate]
    ranked_trace: list[Candidate]
    query_trace: list[dict[str, Any]]
    trace: WalkTrace
    search_failures: dict[str, SearchFailure]


async def walk_entities(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    walker: EntityWalker,
    reader: PassageReader,
    reranker: Reranker,
    workers: WorkerPool,
) -> Walked:
    """Walk, and merge with what the search found (ADR-031: 0.6 vector, 0.4 graph, up to 2 hops).

    The order is that of the merge; the score of a candidate stays its relevance to the question. A walk that fails or
    takes too long drops out, and what the search found stands.
    """
    settings = run_config(runtime.context, state["request"])
    caller, found = caller_of(config), state["candidates"]

    def walk() -> tuple[list[Candidate], Walk]:
        request = state["request"]
        walked = walker.walk(request["question"], found, request["corpora"], caller, _bounds(settings))
        fresh = _score(request["question"], _new(walked, state), caller, reader, reranker, settings)
        return fuse_walk(found, fresh, walked, settings.graph_vector_weight), walked

    try:
        async with asyncio.timeout(settings.search_timeout_s):
            merged, walked = await workers.run(walk)
    except BRANCH_ENDS as error:  # whatever went wrong here must not take away what the search found
        reason = branch_failure(error, settings.search_timeout_s)
        _log.warning("the walk over entities dropped out: %s", reason)
        failure = SearchFailure(query=state["request"]["question"], corpus="", error=reason)
        return Walked(search_failures={f"{state['round']:02d}|walk_entities": failure})
    update = Walked(
        candidates=merged,
        query_trace=[*state["query_trace"], _trace(state, walked, merged)],
        trace=_led_by(walked, merged, state),
    )
    if state["round"] == 0:
        update["ranked_trace"] = trace_documents(merged)
    return update


def _bounds(settings: RAGConfig) -> WalkBounds:
    return WalkBounds(settings.graph_hops, settings.graph_starts, settings.graph_hub, settings.graph_max_chunks)


def _new(walked: Walk, state: QueryState) -> list[Candidate]:
    """What the walk found beyond the candidates, without what a correction dropped."""
    known = {*(candidate["chunk_id"] for candidate in state["candidates"]), *state["excluded_ids"]}
    return [
        Candidate(chunk_id=chunk_id, corpus=corpus, document_uri="", score=0.0)
        for chunk_id, corpus in walked.corpus_of.items()
        if chunk_id not in known
    ]


def _score(
    question: str,
    fresh: Sequence[Candidate],
    caller: UserContext,
    reader: PassageReader,
    reranker: Reranker,
    settings: RAGConfig,
) -> list[Candidate]:
    """``fresh`` with its place and its relevance; 0 where nothing is reranked. What left the store is left out."""
    chunks, sentences = reader.read_with_sentences(fresh, caller)
    there = [candidate for candidate in fresh if candidate["chunk_id"] in chunks]
    scores = [0.0] * len(there)
    if settings.enable_reranking and there:
        in_order = [chunks[candidate["chunk_id"]] for candidate in there]
        scores = probability(reranker.rerank(question, in_order, sentences)).tolist()
    return scored(there, chunks, scores)


def _led_by(walked: Walk, merged: Sequence[Candidate], state: QueryState) -> WalkTrace:
    """Of this round alone: relations that an earlier one told are written over, by none too."""
    relations = relations_of(walked, merged)
    led_by = WalkTrace(entities=entities_of(walked, merged))
    return WalkTrace(**led_by, relations=relations) if relations or "relations" in state["trace"] else led_by


def _trace(state: QueryState, walked: Walk, merged: Sequence[Candidate]) -> dict[str, Any]:
    """The head of what the walk reached, as searches tell theirs."""
    scores = {candidate["chunk_id"]: candidate["score"] for candidate in merged}
    ranked = [{"chunk_id": id_, "score": scores[id_]} for id_ in walked.reached if id_ in scores][:_TRACED]
    told = {"round": state["round"], "query": state["request"]["question"], "origin": "question"}
    return {**told, "method": "entities", "ranked": ranked}
