"""From many ranked lists to one: corpora by score, then queries and methods by reciprocal rank."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.errors import SearchFailed
from citeloop.knowledge.corpus import Hit
from citeloop.retrieval.rank_fusion import merge_by_score, reciprocal_rank_fusion
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Candidate, QueryState, RankedList

_TRACED = 10
"""Ranked ids kept in the trace for each query and method."""


class Fused(TypedDict):
    """The candidates of this round, best first."""

    candidates: list[Candidate]
    ranked_lists: Overwrite
    query_trace: list[dict[str, Any]]


async def fuse_results(state: QueryState, runtime: Runtime[RAGConfig]) -> Fused:
    """Fuse what the branches found. Raises ``SearchFailed`` when every branch dropped out, unless an earlier round left
    a draft to return.

    For one query and method, corpora are merged by comparable score (cosine; BM25 over shared term weights): by rank, a
    corpus about something else would put its best irrelevant page beside the right one. The merged lists are then
    fused by reciprocal rank (Cormack et al. 2009). The raw lists leave the state here; the trace keeps their heads.
    """
    settings = run_config(runtime.context, state["request"])
    lists = state["ranked_lists"]
    failures = state["search_failures"]
    if not lists and failures and state["best"] is None:
        raise SearchFailed(f"every search failed; the first: {next(iter(failures.values()))['error']}")
    depth = max((task["depth"] for task in state["search_tasks"]), default=0)
    merged = {key: merge_by_score(members, depth) for key, members in _by_query_and_method(lists.values()).items()}
    fused = reciprocal_rank_fusion([[hit.chunk_id for hit in hits] for hits in merged.values()], k=settings.fusion_k)
    corpus_of = {hit[0]: ranked["corpus"] for ranked in lists.values() for hit in ranked["hits"]}
    excluded = set(state["excluded_ids"])
    candidates = [
        Candidate(chunk_id=hit.id, corpus=corpus_of[hit.id], document_uri="", score=hit.score)
        for hit in fused
        if hit.id not in excluded
    ]
    heads = [
        {
            "round": state["round"],
            "query": query,
            "method": method,
            "ranked": [{"chunk_id": hit.chunk_id, "score": round(hit.score, 4)} for hit in hits[:_TRACED]],
        }
        for (query, method), hits in merged.items()
    ]
    return Fused(candidates=candidates, ranked_lists=Overwrite({}), query_trace=[*state["query_trace"], *heads])


def _by_query_and_method(lists: Iterable[RankedList]) -> dict[tuple[str, str], list[list[Hit]]]:
    grouped: defaultdict[tuple[str, str], list[list[Hit]]] = defaultdict(list)
    for ranked in lists:
        grouped[ranked["query"], ranked["method"]].append([Hit(*hit) for hit in ranked["hits"]])
    return dict(grouped)
