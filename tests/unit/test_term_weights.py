"""Inverse document frequencies over several corpora."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.knowledge.indexes import TermStatistics
from citeloop.retrieval.term_weights import global_term_weights, inverse_document_frequency


def test_counts_of_all_corpora_are_added_before_they_are_weighed() -> None:
    weights = global_term_weights([TermStatistics(10, {"cat": 1, "dog": 4}), TermStatistics(90, {"cat": 9, "dog": 0})])
    assert weights["cat"] == pytest.approx(log(1 + 90.5 / 10.5))
    assert weights["dog"] == pytest.approx(log(1 + 96.5 / 4.5))


def test_terms_found_nowhere_are_left_out() -> None:
    assert global_term_weights([TermStatistics(10, {"cat": 0}), TermStatistics(0, {"cat": 0})]) == {}
    assert global_term_weights([]) == {}


def test_a_term_that_stands_everywhere_still_weighs_something() -> None:
    assert 0 < inverse_document_frequency(1000, 1000) < 0.001


def test_a_long_question_keeps_its_rarest_terms_the_same_ones_in_every_run() -> None:
    frequencies = {"c": 2, "a": 2, "b": 2, "rare": 1, "common": 50}
    assert list(global_term_weights([TermStatistics(100, frequencies)], max_terms=3)) == ["rare", "a", "b"]


@given(
    st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 20)), max_size=5),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_corpora_does_not_matter(counts, random) -> None:  # type: ignore[no-untyped-def]
    corpora = [TermStatistics(20, frequencies) for frequencies in counts]
    weights = global_term_weights(corpora)
    assert list(weights.items()) == list(global_term_weights(random.sample(corpora, len(corpora))).items())
    assert all(weight > 0 for weight in weights.values())
