"""The table from intent and complexity to strategy, and where the complexity comes from."""

import pytest

from citeloop.retrieval.analyzer import QueryAnalyzer, select_strategy
from citeloop.state.models import QueryAnalysis, QueryIntent, RetrievalStrategy


@pytest.mark.parametrize(
    ("intent", "complexity", "strategy"),
    [
        (QueryIntent.FACTUAL, 0.9, RetrievalStrategy.SIMPLE),
        (QueryIntent.ANALYTICAL, 0.49, RetrievalStrategy.STANDARD),
        (QueryIntent.ANALYTICAL, 0.5, RetrievalStrategy.MULTI_HOP),
        (QueryIntent.COMPARATIVE, 0.1, RetrievalStrategy.GRAPH_ENHANCED),
        (QueryIntent.EXPLORATORY, 0.1, RetrievalStrategy.EXHAUSTIVE),
        (QueryIntent.PROCEDURAL, 0.9, RetrievalStrategy.STANDARD),
    ],
)
def test_the_table_is_the_specified_one(intent: QueryIntent, complexity: float, strategy: RetrievalStrategy) -> None:
    assert select_strategy(QueryAnalysis(intent=intent, estimated_complexity=complexity)) is strategy


def test_an_overview_is_exploratory() -> None:
    assert QueryAnalyzer().analyze("Give me an overview of the lighthouse.").intent is QueryIntent.EXPLORATORY


def test_complexity_grows_with_length_nesting_and_parts() -> None:
    questions = [
        "Why was the lamp changed?",
        "Why was the lamp of the lighthouse changed when the harbour was widened?",
        "Why was the lamp of the lighthouse changed when the harbour was widened? And who paid for the work?",
    ]
    complexities = [QueryAnalyzer().analyze(question).estimated_complexity for question in questions]
    assert complexities == sorted(set(complexities))
    assert complexities[0] < 0.5 <= complexities[-1] <= 1
