"""One branch: a sub-question, its own documents, its own answer (Sub-questions, steps 2 and 3)."""

import asyncio
import logging
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.branch_failure import BRANCH_ENDS, branch_failure
from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.document_search import DocumentSearch
from citeloop.retrieval.found_documents import passages_by_id, trace_query
from citeloop.retrieval.prompt_passages import number_fitting, render_passages
from citeloop.state.graph_state import AnsweredSubQuestion, SubQuestionTask
from citeloop.state.multi_query_config import SubQuestionsConfig
from citeloop.state.multi_query_state import FoundDocuments
from citeloop.verification.draft_check import DraftCheck
from citeloop.verification.sub_answers import not_found

_log = logging.getLogger(__name__)


class SubAnswered(TypedDict):
    """The branch's result, under a key of its own."""

    answered: dict[str, AnsweredSubQuestion]


async def answer_sub_question(
    task: SubQuestionTask,
    runtime: Runtime[SubQuestionsConfig],
    config: RunnableConfig,
    *,
    search: DocumentSearch,
    caller: ChatCaller,
    check: DraftCheck,
    prompt: Prompt,
) -> SubAnswered:
    """Retrieve, answer from these documents only, and check the citations against them, all within the time limit.

    Without documents the answer is "not found", and the model is not called. A failed or slow branch is recorded and
    logged as "not found"; its siblings stand.
    """
    settings, limit = runtime.context, runtime.context.branch_timeout_s
    result = not_found(task, "no document was found")
    try:
        async with asyncio.timeout(limit):
            async with asyncio.timeout(settings.search_timeout_s):
                found = await search.search(task["sub_question"], settings.k, task["request"]["corpora"], config)
            result["error"] = "; ".join(found.failures)
            unique = list(passages_by_id(found.passages).values())
            result["passages"] = number_fitting(unique, prompt.text + task["sub_question"], settings)
            if result["passages"]:
                await _answer(result, settings, config, caller, check, prompt)
    except BRANCH_ENDS as failure:  # whatever went wrong in one branch must not end the others
        result = not_found(task, "the branch dropped out", branch_failure(failure, limit), result["passages"])
        _log.warning("sub-question %r dropped out: %s", task["sub_question"], result["error"])
    result["queries"] = [_trace(result)]
    return SubAnswered(answered={task["key"]: result})


async def _answer(
    result: AnsweredSubQuestion,
    settings: SubQuestionsConfig,
    config: RunnableConfig,
    caller: ChatCaller,
    check: DraftCheck,
    prompt: Prompt,
) -> None:
    passages, question = result["passages"], result["sub_question"]
    messages = fill(prompt, {"sub_question": question}, {"documents": render_passages(passages)})
    reply = await caller.call(
        messages, config, name="sub_answer", prompt=prompt.name, timeout_s=settings.model_timeout_s
    )
    result["tokens"] = reply.tokens
    result["verdict"] = await check.verify(question, reply.text, passages)


def _trace(result: AnsweredSubQuestion) -> dict[str, Any]:
    found = FoundDocuments(
        query=result["sub_question"], origin=result["origin"], passages=result["passages"], error=result["error"]
    )
    return {**trace_query(found)}
