"""Intent, complexity, and the strategy that follows."""

from typing import Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller, ChatReply
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.analysis_reply import read_analysis
from citeloop.retrieval.analyzer import route_of, select_strategy
from citeloop.retrieval.query_plan import queries_of
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Analysis, Query, QueryState
from citeloop.state.models import QueryAnalysis, RetrievalStrategy
from citeloop.workers import WorkerPool


class Analyzer(Protocol):
    """What this node asks of ``QueryAnalyzer``."""

    def analyze(self, question: str) -> QueryAnalysis:
        """The analysis of one question. Blocking."""


class Analyzed(TypedDict):
    """The analysis, and the question as the one query; strategies of several queries add to it."""

    analysis: Analysis
    queries: list[Query]
    tokens: dict[str, int]


async def analyze_query(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    analyzer: Analyzer,
    caller: ChatCaller,
    prompt: Prompt,
    workers: WorkerPool,
) -> Analyzed:
    """Analyze the question; the caller's strategy rules, ``auto`` takes the one of the table of ``routes``.

    The chat model analyzes where the settings ask for it; where its reply is none to read, the ``analyzer`` does.
    """
    question, settings = state["request"]["question"], run_config(runtime.context, state["request"])
    reply = ChatReply("", 0)
    if settings.analyzer == "model":
        messages, limit = fill(prompt, {"question": question}), settings.model_timeout_s
        reply = await caller.attempt(messages, config, name="analyze", prompt=prompt.name, timeout_s=limit)
    analysis = read_analysis(reply.text)
    if analysis is None:
        analysis = await workers.run(analyzer.analyze, question)
    return Analyzed(
        analysis=_decide(analysis, settings),
        queries=queries_of([question], "question"),
        tokens={"analyze_query": reply.tokens},
    )


def _decide(analysis: QueryAnalysis, settings: RAGConfig) -> Analysis:
    """The strategy, with the reason in words."""
    choice = settings.strategy
    wanted = select_strategy(analysis, settings.routes) if choice == "auto" else RetrievalStrategy(choice)
    row = route_of(analysis, settings.routes)
    given = f" by routes[{row}]" if row in settings.routes else ""
    reason = f"{analysis.reason}: {wanted}{given}" if choice == "auto" else f"{wanted} was asked for"
    small_talk = analysis.small_talk and settings.reply_to_small_talk
    return Analysis(
        intent=analysis.intent.value,
        estimated_complexity=analysis.estimated_complexity,
        strategy=wanted.value,
        reason=f"{analysis.reason}: no search" if small_talk else reason,
        multi_part=analysis.multi_part,
        needs_background=analysis.needs_background,
        small_talk=small_talk,
    )
