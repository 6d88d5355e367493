"""The ranked lists of several queries joined, and what is told of it."""

import math

from citeloop.retrieval.query_fusion import fuse_queries, merge_corpora, rank_queries, trace_fusion
from citeloop.state.graph_state import Query, RankedList

ASKED, REWRITE = Query(text="fee?", origin="question"), Query(text="price", origin="rewrite")


def ranked(query: Query, *ids: str, method: str = "dense", corpus: str = "handbook") -> RankedList:
    hits = [(chunk_id, 1 - number / 100) for number, chunk_id in enumerate(ids)]
    return RankedList(query=query["text"], corpus=corpus, method=method, hits=hits)  # type: ignore[typeddict-item]


def test_each_query_has_one_ranking_in_the_order_of_the_queries() -> None:
    lists = [ranked(REWRITE, "b"), ranked(ASKED, "a", "b"), ranked(ASKED, "b", "c", method="lexical")]
    rankings = rank_queries(merge_corpora(lists, 10), [ASKED, REWRITE], 60)
    assert [(ranking.query, [hit.id for hit in ranking.hits]) for ranking in rankings] == [
        (ASKED, ["b", "a", "c"]),
        (REWRITE, ["b"]),
    ]


def test_a_query_without_an_answer_drops_out() -> None:
    rankings = rank_queries(merge_corpora([ranked(REWRITE, "b")], 10), [ASKED, REWRITE], 60)
    assert [ranking.query for ranking in rankings] == [REWRITE]


def test_queries_are_fused_by_rank_to_a_depth_and_each_contribution_is_told() -> None:
    lists = [ranked(ASKED, "a", "b", "x"), ranked(REWRITE, "b", "c", "x")]
    rankings = rank_queries(merge_corpora(lists, 10), [ASKED, REWRITE], 60)
    fused = fuse_queries(rankings, 60, depth=2)
    assert [hit.id for hit in fused] == ["b", "a", "c"]
    assert math.isclose(fused[0].score, 1 / 62 + 1 / 61, rel_tol=0)
    best = trace_fusion(fused, ["fee?", "price"])[0]
    assert [(part["query"], part["rank"]) for part in best["contributions"]] == [("fee?", 2), ("price", 1)]


def test_a_single_query_keeps_its_ranking_whole() -> None:
    rankings = rank_queries(merge_corpora([ranked(ASKED, "a", "b", "c")], 10), [ASKED], 60)
    assert [hit.id for hit in fuse_queries(rankings, 60, depth=1)] == ["a", "b", "c"]
    assert fuse_queries([], 60, depth=1) == []
