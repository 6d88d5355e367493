"""Reading analyses in the labels of a set."""

from collections.abc import Mapping

import pytest

from citeloop.evaluation.evaluate import evaluate_claims, evaluate_intents
from citeloop.evaluation.intents import scheme_for
from citeloop.evaluation.sets import LabelledClaim, LabelledIntent
from citeloop.state.models import QueryAnalysis, QueryIntent


class FixedAnalyses:
    """An analyzer that reads its verdicts from a table."""

    def __init__(self, analyses: Mapping[str, QueryAnalysis]) -> None:
        self.analyses = analyses

    def analyze(self, question: str) -> QueryAnalysis:
        return self.analyses[question]


def analysis(intent: str, complexity: float = 0.1) -> QueryAnalysis:
    return QueryAnalysis(intent=QueryIntent(intent), estimated_complexity=complexity)


@pytest.mark.parametrize(
    ("labels", "given", "read"),
    [
        (["factual", "procedural"], analysis("procedural"), "procedural"),
        (["single_hop", "multi_hop"], analysis("factual"), "single_hop"),
        (["single_hop", "multi_hop"], analysis("factual", 0.5), "multi_hop"),
        (["single_hop", "multi_hop"], analysis("analytical", 0.9), "multi_hop"),
        (["comparative", "multi_hop"], analysis("comparative", 0.9), "comparative"),
        (["Factoid", "Opinion"], analysis("analytical"), "Explanation"),
    ],
)
def test_an_analysis_is_read_in_the_labels_of_the_set(labels: list[str], given: QueryAnalysis, read: str) -> None:
    scheme = scheme_for([LabelledIntent(question="?", label=label) for label in labels])
    assert scheme.comparable
    assert scheme.read(given) == read


def test_any_label_of_a_question_is_right_and_the_table_counts_each() -> None:
    rows = [
        LabelledIntent(question="a", label="Factoid+Keyword", labels=("Factoid", "Keyword")),
        LabelledIntent(question="b", label="How-To"),
        LabelledIntent(question="c", label="Factoid"),
    ]
    analyses = {"a": analysis("factual"), "b": analysis("factual"), "c": analysis("factual")}
    report = evaluate_intents(rows, FixedAnalyses(analyses))
    accuracy, majority = report.metrics["accuracy"], report.metrics["majority_share"]
    assert accuracy and majority
    assert accuracy.value == majority.value == pytest.approx(2 / 3)
    assert report.confusion == {"Factoid": {"Factoid": 2}, "How-To": {"Factoid": 1}, "Keyword": {"Factoid": 1}}


def test_topics_get_a_table_and_no_accuracy() -> None:
    rows = [LabelledIntent(question="a", label="banking"), LabelledIntent(question="b", label="travel")]
    report = evaluate_intents(rows, FixedAnalyses({"a": analysis("factual"), "b": analysis("procedural")}))
    assert report.metrics == {"accuracy": None}
    assert report.confusion == {"banking": {"factual": 1}, "travel": {"procedural": 1}}


def test_claims_are_scored_against_their_source() -> None:
    claims = [
        LabelledClaim(id="1", claim="yes", source="a source", supported=True),
        LabelledClaim(id="2", claim="no", source="another", supported=False),
    ]
    sure_and_right = {("yes", "a source"): 1.0, ("no", "another"): 0.0}
    report = evaluate_claims(claims, lambda claim, source: sure_and_right[claim, source])
    assert {name: figure and figure.value for name, figure in report.metrics.items()} == {
        "support_macro_f1": 1.0,
        "support_auc": 1.0,
        "support_ece": 0.0,
    }
