"""The question split into independent parts (Sub-questions, step 1)."""

import logging

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.query_plan import trace_plan
from citeloop.retrieval.query_replies import read_sub_questions
from citeloop.state.multi_query_config import SubQuestionsConfig
from citeloop.state.multi_query_state import MultiQueryTrace, QueryOrigin, SubQuestionsState, SubQuestionTask

_log = logging.getLogger(__name__)

_FEWEST = 2
"""Fewer parts are no split: the question is answered by a single retrieval."""


class Decomposed(TypedDict):
    """The branches to run."""

    sub_question_tasks: list[SubQuestionTask]
    answered: Overwrite
    sub_answers: list[dict[str, object]]
    trace: MultiQueryTrace
    tokens: dict[str, int]


async def decompose_question(
    state: SubQuestionsState,
    runtime: Runtime[SubQuestionsConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> Decomposed:
    """Two sub-questions or more, ``max_sub_questions`` at the most; else the question itself as the only one."""
    settings, question = runtime.context, state["request"]["question"]
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
        sub_question_tasks=_tasks(read.kept, "sub_question") if is_split else _tasks([question], "question"),
        answered=Overwrite({}),
        sub_answers=[],
        trace=trace_plan(read, reply.failure, fewest=_FEWEST),
        tokens={"decompose_question": reply.tokens},
    )


def _tasks(sub_questions: list[str], origin: QueryOrigin) -> list[SubQuestionTask]:
    return [
        SubQuestionTask(key=f"{number:02d}", sub_question=sub_question, origin=origin)
        for number, sub_question in enumerate(sub_questions)
    ]
