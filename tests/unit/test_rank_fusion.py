"""Reciprocal rank fusion and the merge by score."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.knowledge.corpus import Hit
from citeloop.retrieval.rank_fusion import Contribution, merge_by_score, reciprocal_rank_fusion

document_ids = st.sampled_from([f"D{number}" for number in range(12)])
ranked_lists = st.lists(st.lists(document_ids, max_size=10), max_size=5)
hit_lists = st.lists(st.lists(st.builds(Hit, document_ids, st.floats(0.01, 9))), max_size=4)


def test_a_document_at_ranks_2_1_3_scores_exactly_the_sum_in_list_order() -> None:
    fused = reciprocal_rank_fusion([["D1", "D7"], ["D7", "D2"], ["D3", "D4", "D7"], []])
    assert fused[0].id == "D7"
    assert fused[0].score == 1 / 62 + 1 / 61 + 1 / 63


def test_a_single_top_hit_scores_one_sixty_first() -> None:
    [hit] = reciprocal_rank_fusion([["D1"]])
    assert hit.score == 1 / 61


def test_a_duplicate_counts_once_at_its_best_rank_and_the_others_keep_theirs() -> None:
    fused = reciprocal_rank_fusion([["D1", "D1", "D2", "D1"]])
    assert [(hit.id, hit.score) for hit in fused] == [("D1", 1 / 61), ("D2", 1 / 63)]


def test_equal_scores_stand_by_best_rank_then_by_id() -> None:
    # k = 0: B scores 1/2, A and C score 1/4 + 1/4; D scores 1/2 as well.
    fused = reciprocal_rank_fusion(
        [["x", "D", "w", "C"], ["x", "B", "v", "A"], ["u1", "u2", "u3", "A"], ["", "", "", "C"]], k=0
    )
    same = [hit.id for hit in fused if hit.score == 0.5 and hit.id in "ABCD"]
    assert same == ["B", "D", "A", "C"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_tie_is_a_tie_whatever_the_order_of_the_lists(order: tuple[int, ...]) -> None:
    lists = [["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]]
    assert [hit.id for hit in reciprocal_rank_fusion([lists[number] for number in order])] == ["A", "B", "C"]


def test_the_contributions_tell_which_list_pulled_a_document_in() -> None:
    fused = reciprocal_rank_fusion([["D1"], [], ["D2", "D1"]])
    assert fused[0].contributions == (Contribution(0, 1, 1 / 61), Contribution(2, 2, 1 / 62))
    assert fused[1].contributions == (Contribution(2, 1, 1 / 61),)


def test_a_weight_multiplies_what_its_list_adds() -> None:
    fused = reciprocal_rank_fusion([["D1"], ["D2"]], weights=[1.0, 2.5])
    assert [(hit.id, hit.score) for hit in fused] == [("D2", 2.5 / 61), ("D1", 1 / 61)]


@pytest.mark.parametrize(("k", "weights"), [(-1, None), (60, [1.0]), (60, [1.0, 0.0]), (60, [1.0, -1.0])])
def test_settings_out_of_bounds_are_refused(k: int, weights: list[float] | None) -> None:
    with pytest.raises(ValueError):
        reciprocal_rank_fusion([["D1"], ["D2"]], k=k, weights=weights)


@given(ranked_lists, st.integers(0, 1000), st.randoms(use_true_random=False))
def test_the_result_does_not_depend_on_the_order_of_the_lists(lists, k, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = random.sample(lists, len(lists))
    fused, again = reciprocal_rank_fusion(lists, k), reciprocal_rank_fusion(shuffled, k)
    assert [hit.id for hit in fused] == [hit.id for hit in again]
    assert [hit.score for hit in fused] == pytest.approx([hit.score for hit in again])


@given(ranked_lists, st.integers(0, 1000))
def test_every_document_comes_out_once_within_the_bounds_of_its_score(lists: list[list[str]], k: int) -> None:
    fused = reciprocal_rank_fusion(lists, k)
    assert sorted(hit.id for hit in fused) == sorted({document for ids in lists for document in ids})
    for hit in fused:
        holders = [ids for ids in lists if hit.id in ids]
        assert [part.rank for part in hit.contributions] == [ids.index(hit.id) + 1 for ids in holders]
        assert 0 < hit.score <= len(holders) / (k + 1) * (1 + 1e-12)


def test_lists_of_several_corpora_merge_by_score_not_by_rank() -> None:
    about_it = [Hit("a1", 9.0), Hit("a2", 7.5), Hit("a3", 5.0)]
    about_something_else = [Hit("b1", 1.2), Hit("b2", 0.4)]
    assert merge_by_score([about_something_else, about_it], 4) == [*about_it, Hit("b1", 1.2)]


@given(hit_lists, st.integers(-1, 20), st.randoms(use_true_random=False))
def test_a_merge_is_sorted_unique_and_independent_of_the_order_of_the_lists(lists, top_k, random) -> None:  # type: ignore[no-untyped-def]
    merged = merge_by_score(lists, top_k)
    assert merged == merge_by_score(random.sample(lists, len(lists)), top_k)
    assert merged == sorted(merged, key=lambda hit: (-hit.score, hit.chunk_id))
    every = [hit for hits in lists for hit in hits]
    assert len(merged) == min(max(top_k, 0), len({hit.chunk_id for hit in every}))
    assert all(hit.score == max(other.score for other in every if other.chunk_id == hit.chunk_id) for hit in merged)
