"""The question split into independent parts (Sub-questions, step 1)."""

import logging

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.query_plan import queries_of, trace_plan
from citeloop.retrieval.query_replies import read_sub_questions
from citeloop.state.config import RAGConfig, overridden
from citeloop.state.graph_state import Query, QueryState
from citeloop.state.multi_query_config import SubQuestionsConfig
from citeloop.state.multi_query_state import MultiQueryState, MultiQueryTrace

_log = logging.getLogger(__name__)

_FEWEST = 2
"""Fewer parts are no split: the question is answered by a single retrieval."""


class Decomposed(TypedDict):
    """What to search for."""

    queries: list[Query]
    trace: MultiQueryTrace
    tokens: dict[str, int]


async def decompose_question(
    state: QueryState | MultiQueryState,
    runtime: Runtime[RAGConfig | SubQuestionsConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> Decomposed:
    """Two sub-questions or more, ``max_sub_questions`` at the most; else the question itself as the only query."""
    settings, question = overridden(runtime.context, state["request"]), state["request"]["question"]
    reply = await caller.attempt(
        fill(prompt, {"question": question}),
        config,
        name="decompose",
        prompt=prompt.name,
        timeout_s=settings.model_timeout_s,
    )
    read = read_sub_questions(reply.text, settings.max_sub_questions)
    for dropped, reason in read.dropped:
        _log.info("sub-question %r is not asked: %s", dropped, reason)
    is_split = len(read.kept) >= _FEWEST
    return Decomposed(
        queries=queries_of(read.kept, "sub_question") if is_split else queries_of([question], "question"),
        trace=trace_plan(read, reply.failure, fewest=_FEWEST),
        tokens={"decompose_question": reply.tokens},
    )
