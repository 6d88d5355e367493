"""One branch: a sub-question searched for in all corpora and answered from what it found, nothing else."""

import asyncio
import logging
from typing import Protocol

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.branch_failure import BRANCH_ENDS, branch_failure
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import (
    Analysis,
    AnsweredSubQuestion,
    Query,
    QueryState,
    Request,
    SearchFailure,
    SubQuestionTask,
)
from citeloop.state.models import RetrievalStrategy
from citeloop.verification.sub_answers import not_found

_log = logging.getLogger(__name__)


class SubQuestionBranch(Protocol):
    """The way of a sub-question from search to checked answer."""

    async def run(self, state: QueryState, runtime: Runtime[RAGConfig], config: RunnableConfig) -> QueryState:
        """``state`` as it is after search, ranking, answer and validation; ``best`` is None where nothing was found."""


class Researched(TypedDict):
    """The branch's result, and what dropped out of its searches, under keys of its own."""

    answered: dict[str, AnsweredSubQuestion]
    search_failures: dict[str, SearchFailure]


async def research_sub_question(
    task: SubQuestionTask, runtime: Runtime[RAGConfig], config: RunnableConfig, *, branch: SubQuestionBranch
) -> Researched:
    """Answer within the time allowed to a search and a model call.

    Without documents the answer is "not found", and the model is not called. A failed or slow branch is recorded and
    logged as "not found"; its siblings stand.
    """
    settings = run_config(runtime.context, task["request"])
    key = f"{task['round']:02d}|{task['key']}"
    failures: dict[str, SearchFailure] = {}
    limit = settings.search_timeout_s + settings.model_timeout_s
    try:
        async with asyncio.timeout(limit):
            done = await branch.run(_begin(task), runtime, config)
        result, failures = _result(task, done), done["search_failures"]
    except BRANCH_ENDS as failure:  # whatever went wrong in one branch must not end the others
        result = not_found(task, "the branch dropped out", branch_failure(failure, limit))
        failures = {key: SearchFailure(query=task["sub_question"], corpus="", error=result["error"])}
        _log.warning("sub-question %r dropped out: %s", task["sub_question"], result["error"])
    return Researched(answered={key: result}, search_failures=failures)


def _begin(task: SubQuestionTask) -> QueryState:
    """A turn of its own, which asks the sub-question in place of the question."""
    return QueryState(
        request=Request(**{**task["request"], "question": task["sub_question"]}),
        analysis=Analysis(
            intent="",
            estimated_complexity=0.0,
            strategy=RetrievalStrategy.SUB_QUESTIONS.value,
            reason="a part of a question",
        ),
        queries=[Query(text=task["sub_question"], origin=task["origin"])],
        round=task["round"],
        hop=0,
        candidates=[],
        correction=task["correction"],
        corrections_tried=[],
        ranked_lists={},
        search_failures={},
        excluded_ids=task["excluded_ids"],
        passages=[],
        best=None,
        tokens={},
        sub_answers=[],
        query_trace=[],
        ranked_trace=[],
        round_trace=[],
    )


def _result(task: SubQuestionTask, done: QueryState) -> AnsweredSubQuestion:
    best = done["best"]
    result = not_found(task, "no document was found", passages=done["passages"])
    result["queries"], result["tokens"] = done["query_trace"], sum(done["tokens"].values())
    if best is not None:
        result["verdict"] = best["verdict"]
    return result
