"""The token budget: never exceeded, filled in order of relevance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.errors import InvalidRequest
from citeloop.retrieval.context_budget import fit_in_budget, passage_budget
from citeloop.state.config import RAGConfig

sizes = st.lists(st.integers(min_value=1, max_value=500), max_size=30)
budgets = st.integers(min_value=0, max_value=5000)


@given(sizes, budgets)
def test_the_budget_holds(sizes: list[int], budget: int) -> None:
    assert sum(sizes[index] for index in fit_in_budget(sizes, budget)) <= budget


@given(sizes, budgets)
def test_order_is_kept_and_nothing_stands_twice(sizes: list[int], budget: int) -> None:
    taken = fit_in_budget(sizes, budget)
    assert taken == sorted(set(taken))


@given(sizes, budgets)
def test_whatever_was_left_out_did_not_fit_when_its_turn_came(sizes: list[int], budget: int) -> None:
    taken = set(fit_in_budget(sizes, budget))
    for index, size in enumerate(sizes):
        before = sum(sizes[other] for other in taken if other < index)
        assert (index in taken) == (size <= budget - before)


@given(st.integers(min_value=0, max_value=700), st.integers(min_value=1000, max_value=200_000))
def test_frame_passages_and_answer_share_the_window(frame: int, window: int) -> None:
    settings = RAGConfig(max_context_tokens=window)
    assert 0 < passage_budget(frame, settings) <= window - frame - min(2000, window // 4)


def test_a_frame_that_fills_the_window_is_told() -> None:
    with pytest.raises(InvalidRequest, match="shorten the question"):
        passage_budget(750, RAGConfig(max_context_tokens=1000))
