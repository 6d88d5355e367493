"""Choosing for coverage: maximal marginal relevance over vectors and sections."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from citeloop.retrieval.coverage import maximal_marginal_relevance


def unit(rows: Sequence[Sequence[float]]) -> np.ndarray:
    vectors = np.array(rows, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


TOPICS = unit([[1, 0, 0], [1, 0.01, 0], [1, 0, 0.01], [0, 1, 0], [0, 0, 1]])


def test_relevance_alone_keeps_the_order() -> None:
    assert maximal_marginal_relevance(TOPICS, list("abcde"), 1.0, 5) == [0, 1, 2, 3, 4]


def test_what_repeats_waits_behind_what_is_new() -> None:
    assert maximal_marginal_relevance(TOPICS, list("abcde"), 0.3, 5)[:3] == [0, 3, 4]


def test_another_chunk_of_a_section_repeats_it_whatever_it_says() -> None:
    apart = unit([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]])
    assert maximal_marginal_relevance(apart, ["a", "a", "b"], 0.3, 3) == [0, 2, 1]


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(1, 5)), min_size=1, max_size=12),
    st.floats(0, 1),
    st.integers(1, 12),
)
def test_each_taken_row_has_the_highest_gain_of_those_left(
    rows: list[tuple[int, int, int]], balance: float, most: int
) -> None:
    vectors, sections = unit(rows), [str(row[0]) for row in rows]
    taken = maximal_marginal_relevance(vectors, sections, balance, most)
    assert len(taken) == len(set(taken)) == min(most, len(rows))

    def gain(row: int, before: list[int]) -> float:
        alike = [1.0 if sections[row] == sections[b] else float(vectors[row] @ vectors[b]) for b in before]
        return balance * (1 - row / max(len(rows) - 1, 1)) - (1 - balance) * max([0.0, *alike])

    for place, row in enumerate(taken):
        left = set(range(len(rows))) - set(taken[:place])
        assert gain(row, taken[:place]) >= max(gain(other, taken[:place]) for other in left) - 1e-6
