"""The figures themselves: ranking, answer matching, classification, intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.evaluation.answers import count_words, holds_answer, normalise_answer
from citeloop.evaluation.bootstrap import Quantile, Ratio, estimate
from citeloop.evaluation.classification import AreaUnderCurve, CalibrationError, MacroF1
from citeloop.evaluation.ranking import distinct_documents, ndcg_at, recall_at, reciprocal_rank_at

ONCE = np.ones((1, 4))


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


def test_recall_is_the_share_of_gold_documents_found() -> None:
    ranked = ["x", "a", "y", "b"]
    assert [recall_at(k, ranked, ["a", "b"]) for k in (1, 2, 5)] == [0.0, 0.5, 1.0]
    assert recall_at(5, [], ["a"]) == 0.0


def test_reciprocal_rank_is_that_of_the_first_gold_document_within_the_cut() -> None:
    assert reciprocal_rank_at(10, ["x", "y", "b", "a"], ["a", "b"]) == 1 / 3
    assert reciprocal_rank_at(2, ["x", "y", "b"], ["b"]) == 0.0


def test_ndcg_discounts_by_rank_and_is_one_for_an_ideal_list() -> None:
    # ir-measures 0.4.3 (trec_eval) gives 0.9197207891481876 for gold documents at ranks 1 and 3
    assert ndcg_at(10, ["d1", "d3", "d2"], ["d1", "d2"]) == pytest.approx(0.9197207891481876, abs=1e-12)
    assert ndcg_at(10, ["x", "a"], ["a"]) == pytest.approx(1 / math.log2(3))
    assert ndcg_at(2, ["a", "b"], ["a", "b", "c"]) == 1.0


def test_a_document_with_several_passages_counts_once_at_its_best_rank() -> None:
    uris = ["documents.jsonl#a", "documents.jsonl#b#1", "documents.jsonl#a", "handbook/leave.md"]
    assert distinct_documents(uris) == ["a", "b#1", "handbook/leave.md"]


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("It was built in the year 1843.", "1843"),
        ("They spoke OLD Norse!", "old norse"),
        ("an account of the Danes", "The Danes"),
        ("about 12,500 people", "12500"),
        ("well-known", "known"),
        ("共有３０８分。", "308分"),
        ("a margin of 3.5 points.", "3.5"),
    ],
)
def test_a_gold_string_is_found_whatever_its_dress(text: str, gold: str) -> None:
    assert holds_answer(text, [gold])


@pytest.mark.parametrize(
    ("text", "gold"), [("nobody knows", "no"), ("in 18435", "1843"), ("3.5 points", "3"), ("any text", ""), ("", "no")]
)
def test_a_part_of_a_word_or_nothing_is_no_answer(text: str, gold: str) -> None:
    assert not holds_answer(text, [gold])


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_answer(text)
    assert normalise_answer(once) == once


def test_markers_are_no_words() -> None:
    assert count_words("Leave is 28 days [1][2]. Ask early [3].") == 6


def test_ratio_and_quantile_on_the_sample_and_on_a_resample() -> None:
    twice_the_last = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 2.0]])
    ratio = Ratio(column(1, 0, 2, 1), column(1, 0, 4, 1))
    assert ratio(twice_the_last).tolist() == [4 / 6, 4 / 6]
    assert ratio.observations == 3
    median = Quantile(column(7, 3, math.nan, 1), 0.5)
    assert median(twice_the_last).tolist() == [3.0, 1.0]
    assert median.observations == 3


@given(st.lists(st.floats(0, 1e6), min_size=4, max_size=4), st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_a_weighted_quantile_is_that_of_the_repeated_values(values: list[float], repeats: list[int]) -> None:
    if not any(repeats):
        return
    weighted = Quantile(column(*values), 0.99)(np.array([repeats], dtype=np.float64))[0]
    assert weighted == pytest.approx(np.quantile(np.repeat(values, repeats), 0.99))


def test_an_interval_holds_the_value_narrows_with_the_sample_and_repeats() -> None:
    def hits(size: int) -> dict[str, Ratio]:
        return {"hit": Ratio((np.arange(size) % 4 < 3).astype(np.float64), np.ones(size))}

    small, large = estimate(hits(40), 40)["hit"], estimate(hits(4000), 4000)["hit"]
    assert small and large
    assert small.value == large.value == 0.75
    assert small.low < large.low < 0.75 < large.high < small.high
    # four standard errors of a share: 3.92 * sqrt(0.75 * 0.25 / 4000)
    assert large.high - large.low == pytest.approx(3.92 * math.sqrt(0.75 * 0.25 / 4000), rel=0.1)
    assert estimate(hits(40), 40)["hit"] == small


def test_a_figure_on_which_nothing_bears_is_none() -> None:
    nothing = {"share": Ratio(column(0, 0), column(0, 0)), "median": Quantile(column(math.nan, math.nan), 0.5)}
    assert estimate(nothing, 2) == {"share": None, "median": None}


def test_macro_f1_weighs_both_classes_alike() -> None:
    statistic = MacroF1(column(0.9, 0.8, 0.4, 0.2), column(1, 0, 1, 0))
    assert statistic(ONCE)[0] == 0.5
    always_yes = MacroF1(column(0.9, 0.9, 0.9, 0.9), column(1, 1, 1, 0))
    assert always_yes(ONCE)[0] == pytest.approx((6 / 7 + 0) / 2)


def test_the_area_under_the_curve_counts_ties_as_half() -> None:
    assert AreaUnderCurve(column(0.9, 0.8, 0.7, 0.1), column(1, 0, 1, 0))(ONCE)[0] == 0.75
    assert AreaUnderCurve(column(0.5, 0.5, 0.5, 0.5), column(1, 0, 1, 0))(ONCE)[0] == 0.5


def test_calibration_error_is_the_mean_gap_of_the_bins() -> None:
    perfect = CalibrationError(column(0.5, 0.5, 1.0, 0.0), column(1, 0, 1, 0))
    assert perfect(ONCE)[0] == 0.0
    sure_and_wrong = CalibrationError(column(1.0, 1.0, 1.0, 1.0), column(1, 0, 0, 0))
    assert sure_and_wrong(ONCE)[0] == 0.75


def test_the_interval_of_a_calibration_error_lies_around_it() -> None:
    scores = np.tile([0.25, 0.75], 50)
    labels = np.tile([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0], 13)[:100]
    figure = estimate({"ece": CalibrationError(scores, labels)}, 100)["ece"]
    assert figure
    assert 0 <= figure.low < figure.value < figure.high
