"""The table from intent and complexity to strategy, and where the complexity comes from."""

import pytest
from pydantic import ValidationError

from citeloop.retrieval.analyzer import QueryAnalyzer, route_of, select_strategy
from citeloop.state.config import RAGConfig, Route
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


@pytest.mark.parametrize(
    ("trait", "routes", "strategy", "row"),
    [
        ({}, {"factual": "graph"}, RetrievalStrategy.GRAPH_ENHANCED, "factual"),
        ({}, {"comparative": "step_back"}, RetrievalStrategy.SIMPLE, "factual"),
        ({"multi_part": True}, {}, RetrievalStrategy.SIMPLE, "factual"),
        ({"multi_part": True}, {"multi_part": "sub_questions"}, RetrievalStrategy.SUB_QUESTIONS, "multi_part"),
        (
            {"needs_background": True},
            {"needs_background": "step_back"},
            RetrievalStrategy.STEP_BACK,
            "needs_background",
        ),
    ],
)
def test_routes_replace_rows_of_the_table_and_traits_go_before_intents(
    trait: dict[str, bool], routes: dict[Route, str], strategy: RetrievalStrategy, row: Route
) -> None:
    analysis = QueryAnalysis(**trait)  # type: ignore[arg-type]
    assert (select_strategy(analysis, routes), route_of(analysis, routes)) == (strategy, row)


@pytest.mark.parametrize("routes", [{"factual": "auto"}, {"factual": "fastest"}, {"wild": "simple"}])
def test_routes_name_rows_and_strategies_that_exist(routes: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        RAGConfig(routes=routes)  # type: ignore[arg-type]


def test_complexity_grows_with_the_facts_that_must_be_joined() -> None:
    questions = [
        "When was the lamp changed?",
        "Who runs the harbour whose lamp was changed?",
        "Where was the keeper born who changed the lamp of the harbour that the ministry owns?",
    ]
    complexities = [QueryAnalyzer().analyze(question).estimated_complexity for question in questions]
    assert complexities == sorted(set(complexities))
    assert complexities[0] < 0.5 <= complexities[-1] <= 1
