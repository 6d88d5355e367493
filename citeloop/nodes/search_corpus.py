"""One branch of the fan-out: one query in one corpus."""

import asyncio
import logging
from collections.abc import Awaitable

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.hybrid import HybridSearcher, SearchOutcome
from citeloop.state.graph_state import RankedList, SearchFailure, SearchTask
from citeloop.workers import WorkerPool

_log = logging.getLogger(__name__)


class Searched(TypedDict, total=False):
    """What the branch found, or why it dropped out, under keys of its own."""

    ranked_lists: dict[str, RankedList]
    search_failures: dict[str, SearchFailure]


async def search_corpus(
    task: SearchTask, config: RunnableConfig, *, searcher: HybridSearcher, workers: WorkerPool
) -> Searched:
    """Search within the task's time limit. A failed or slow branch is recorded and logged; its siblings stand."""
    key = f"{task['round']:02d}|{task['query']}|{task['corpus']}"
    return await outcome_of_branch(key, task, workers.run(searcher.search, task, caller_of(config)))


async def outcome_of_branch(branch: str, task: SearchTask, search: Awaitable[SearchOutcome]) -> Searched:
    """Await ``search`` for the task's time limit, and keep what it found, or why it dropped out, under ``branch``."""
    outcome = None
    try:
        async with asyncio.timeout(task["timeout_s"]):
            outcome = await search
    except Exception as error:  # whatever went wrong in one branch must not end the others
        reason = f"no result within {task['timeout_s']} s" if isinstance(error, TimeoutError) else str(error)
        failed = {branch: f"{type(error).__name__}: {reason}"}
    else:
        failed = {f"{branch}|{method}": reason for method, reason in outcome.failures.items()}
    for reason in failed.values():
        _log.warning("search of corpus %s dropped out: %s", task["corpus"], reason)
    return Searched(
        ranked_lists={f"{branch}|{ranked['method']}": ranked for ranked in outcome.lists} if outcome else {},
        search_failures={key: _failure(task, reason) for key, reason in failed.items()},
    )


def _failure(task: SearchTask, reason: str) -> SearchFailure:
    return SearchFailure(query=task["query"], corpus=task["corpus"], error=reason)
