"""Intent, complexity, and the strategy that follows."""

from typing import Protocol

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.retrieval.analyzer import select_strategy
from citeloop.retrieval.query_plan import queries_of
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Analysis, Query, QueryState
from citeloop.state.models import QueryAnalysis, RetrievalStrategy

BUILT = frozenset(
    {
        RetrievalStrategy.SIMPLE,
        RetrievalStrategy.STANDARD,
        RetrievalStrategy.GRAPH_ENHANCED,
        RetrievalStrategy.MULTI_HOP,
        RetrievalStrategy.EXHAUSTIVE,
        RetrievalStrategy.RAG_FUSION,
        RetrievalStrategy.SUB_QUESTIONS,
        RetrievalStrategy.STEP_BACK,
    }
)
"""Strategies that have a path of their own in the graph; the others run ``standard`` and say so."""


class Analyzer(Protocol):
    """What this node asks of ``QueryAnalyzer``."""

    def analyze(self, question: str) -> QueryAnalysis:
        """The analysis of one question."""


class Analyzed(TypedDict):
    """The analysis, and the question as the one query; strategies of several queries add to it."""

    analysis: Analysis
    queries: list[Query]


async def analyze_query(state: QueryState, runtime: Runtime[RAGConfig], *, analyzer: Analyzer) -> Analyzed:
    """Analyze the question; the caller's strategy rules, ``auto`` takes the one of ADR-031's table."""
    analysis = analyzer.analyze(state["request"]["question"])
    choice = run_config(runtime.context, state["request"]).strategy
    wanted = select_strategy(analysis) if choice == "auto" else RetrievalStrategy(choice)
    strategy = wanted if wanted in BUILT else RetrievalStrategy.STANDARD
    reason = f"{analysis.reason}: {wanted}" if choice == "auto" else f"{wanted} was asked for"
    if strategy is not wanted:
        reason += f"; {wanted} is not built yet, so {strategy} runs"
    return Analyzed(
        analysis=Analysis(
            intent=analysis.intent.value,
            estimated_complexity=analysis.estimated_complexity,
            strategy=strategy.value,
            reason=reason,
        ),
        queries=queries_of([state["request"]["question"]], "question"),
    )
