"""The ranked lists of several queries joined: corpora by score, then the methods of a query, then queries by rank."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from citeloop.knowledge.corpus import Hit
from citeloop.retrieval.rank_fusion import FusedHit, merge_by_score, reciprocal_rank_fusion
from citeloop.state.graph_state import Query, RankedList
from citeloop.state.multi_query_state import Contributor, FusedDocument

QueryAndMethod = tuple[str, str]


@dataclass(frozen=True, slots=True)
class QueryRanking:
    """What one query found, best first."""

    query: Query
    hits: list[FusedHit]


def merge_corpora(lists: Iterable[RankedList], depth: int) -> dict[QueryAndMethod, list[Hit]]:
    """For each query and method the ``depth`` best hits of all corpora.

    They merge by comparable score (cosine; BM25 over shared term weights): by rank, a corpus about something else would
    put its best irrelevant page beside the right one.
    """
    members: defaultdict[QueryAndMethod, list[list[Hit]]] = defaultdict(list)
    for ranked in lists:
        members[ranked["query"], ranked["method"]].append([Hit(*hit) for hit in ranked["hits"]])
    return {key: merge_by_score(hits, depth) for key, hits in members.items()}


def rank_queries(
    merged: Mapping[QueryAndMethod, Sequence[Hit]], queries: Sequence[Query], k: int
) -> list[QueryRanking]:
    """One ranking for each query that was answered, in their order: its methods fused by reciprocal rank."""
    by_query: defaultdict[str, list[list[str]]] = defaultdict(list)
    for (text, _), hits in merged.items():
        by_query[text].append([hit.chunk_id for hit in hits])
    known = {query["text"]: query for query in queries}
    in_order = [text for text in known if text in by_query] + [text for text in by_query if text not in known]
    return [
        QueryRanking(known.get(text, Query(text=text, origin="question")), reciprocal_rank_fusion(by_query[text], k))
        for text in in_order
    ]


def fuse_queries(rankings: Sequence[QueryRanking], k: int, depth: int) -> list[FusedHit]:
    """One ranking of several queries: the first ``depth`` hits of each by reciprocal rank (RAG-Fusion, steps 2 and 3).

    That of a single query is returned as it is.
    """
    if len(rankings) == 1:
        return rankings[0].hits
    return reciprocal_rank_fusion([[hit.id for hit in ranking.hits[:depth]] for ranking in rankings], k)


def trace_fusion(fused: Iterable[FusedHit], queries: Sequence[str]) -> list[FusedDocument]:
    """Which of ``queries``, whose lists were fused, pulled each document in."""
    return [
        FusedDocument(
            chunk_id=hit.id,
            score=hit.score,
            contributions=[
                Contributor(query=queries[part.ranked_list], rank=part.rank, score=part.score)
                for part in hit.contributions
            ],
        )
        for hit in fused
    ]
