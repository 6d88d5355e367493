"""From many ranked lists to one: corpora by score, then methods and queries by reciprocal rank."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.errors import SearchFailed
from citeloop.knowledge.corpus import Hit
from citeloop.retrieval.query_fusion import (
    QueryAndMethod,
    QueryRanking,
    fuse_queries,
    merge_corpora,
    rank_queries,
    trace_fusion,
)
from citeloop.retrieval.query_plan import query_from
from citeloop.retrieval.rank_fusion import FusedHit
from citeloop.state.config import FOLLOW_UP_DEPTH, RAGConfig, run_config
from citeloop.state.graph_state import Candidate, QueryState, RankedList
from citeloop.state.models import QueryOrigin

_TRACED = 10
"""Ranked ids kept in the trace for each query and method."""
_FUSED_TRACED = 20
"""Fused documents kept in the trace, with the queries that pulled them in."""


class Fused(TypedDict, total=False):
    """The candidates of this round, best first."""

    candidates: list[Candidate]
    ranked_lists: Overwrite
    query_trace: list[dict[str, Any]]
    trace: dict[str, Any]


async def fuse_results(state: QueryState, runtime: Runtime[RAGConfig]) -> Fused:
    """Fuse what the branches found. Raises ``SearchFailed`` when every branch dropped out, unless an earlier round left
    a draft to return or an earlier hop passages.

    The question and its rewrites are fused by reciprocal rank (Cormack et al. 2009). What was found for a step-back
    question stands behind as background, be it among the others or not: which of both a passage is, is decided where
    the best are chosen. The raw lists leave the state here; the trace keeps their heads.
    """
    settings = run_config(runtime.context, state["request"])
    lists = list(state["ranked_lists"].values())
    _require_one_list(state)
    merged = merge_corpora(lists, depth=max((task["depth"] for task in state["search_tasks"]), default=0))
    rankings = rank_queries(merged, state["queries"], settings.fusion_k)
    specific = [ranking for ranking in rankings if ranking.query["origin"] not in ("step_back", "follow_up")]
    background = [ranking for ranking in rankings if ranking.query["origin"] == "step_back"]
    depth = settings.passages_ranked(state["analysis"]["strategy"], widened=state["correction"] == "widen")
    fused = fuse_queries(specific, settings.fusion_k, depth)
    candidates = [
        *_found_before(state),
        *_candidates(fused, lists, "sub_question" if query_from(state["queries"], "sub_question") else "question"),
        *_candidates(fuse_queries(background, settings.fusion_k, depth), lists, "step_back"),
        *_found_by_follow_ups(rankings, lists),
    ]
    update = Fused(
        candidates=[one for one in _each_once(candidates) if one["chunk_id"] not in state["excluded_ids"]],
        ranked_lists=Overwrite({}),
        query_trace=[*state["query_trace"], *_heads(merged, state)],
    )
    if len(specific) > 1:
        texts = [ranking.query["text"] for ranking in specific]
        update["trace"] = {"fused": trace_fusion(fused[:_FUSED_TRACED], texts)}
    return update


def _require_one_list(state: QueryState) -> None:
    failures = state["search_failures"]
    if failures and not state["ranked_lists"] and state["best"] is None and not state["hop"]:
        raise SearchFailed(f"every search failed; the first: {next(iter(failures.values()))['error']}")


def _candidates(hits: Iterable[FusedHit], lists: Iterable[RankedList], origin: QueryOrigin) -> list[Candidate]:
    corpus_of = {hit[0]: ranked["corpus"] for ranked in lists for hit in ranked["hits"]}
    return [
        Candidate(chunk_id=hit.id, corpus=corpus_of[hit.id], document_uri="", score=hit.score, origin=origin)
        for hit in hits
    ]


def _found_by_follow_ups(rankings: Iterable[QueryRanking], lists: Sequence[RankedList]) -> list[Candidate]:
    """What each follow-up found, under its name: it is ranked by that, not fused with what others found."""
    return [
        {**candidate, "query": ranking.query["text"]}
        for ranking in rankings
        if ranking.query["origin"] == "follow_up"
        for candidate in _candidates(ranking.hits[:FOLLOW_UP_DEPTH], lists, "follow_up")
    ]


def _found_before(state: QueryState) -> list[Candidate]:
    """What earlier searches found, first: the reranker minds the order. All of it within a round; in later rounds what
    follow-ups found."""
    return [one for one in state["candidates"] if state["hop"] or one.get("origin") == "follow_up"]


def _each_once(candidates: Iterable[Candidate]) -> list[Candidate]:
    """A chunk stands once for each thing that it was found for."""
    first: dict[tuple[str, str, str], Candidate] = {}
    for one in candidates:
        first.setdefault((one["chunk_id"], one.get("origin", "question"), one.get("query", "")), one)
    return list(first.values())


def _heads(merged: Mapping[QueryAndMethod, Sequence[Hit]], state: QueryState) -> list[dict[str, Any]]:
    origins = {query["text"]: query["origin"] for query in state["queries"]}
    return [
        {
            "round": state["round"],
            "query": query,
            "origin": origins.get(query, "question"),
            "method": method,
            "ranked": [{"chunk_id": hit.chunk_id, "score": round(hit.score, 4)} for hit in hits[:_TRACED]],
        }
        for (query, method), hits in merged.items()
    ]
