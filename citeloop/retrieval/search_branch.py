"""What one branch of a search fan-out writes: what it found, or why it dropped out."""

import asyncio
import logging
from collections.abc import Awaitable

from typing_extensions import TypedDict

from citeloop.branch_failure import BRANCH_ENDS, branch_failure
from citeloop.retrieval.hybrid import SearchOutcome
from citeloop.state.graph_state import RankedList, SearchFailure, SearchTask

_log = logging.getLogger(__name__)


class Searched(TypedDict, total=False):
    """What the branch found, or why it dropped out, under keys of its own."""

    ranked_lists: dict[str, RankedList]
    search_failures: dict[str, SearchFailure]


async def search_as_branch(branch: str, task: SearchTask, search: Awaitable[SearchOutcome]) -> Searched:
    """Await ``search`` for the task's time limit, and keep what came of it under keys that begin with ``branch``.

    A failed or slow branch is recorded and logged; its siblings stand.
    """
    outcome = None
    try:
        async with asyncio.timeout(task["timeout_s"]):
            outcome = await search
    except BRANCH_ENDS as error:  # whatever went wrong in one branch must not end the others
        failed = {branch: branch_failure(error, task["timeout_s"])}
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
