"""One branch of the fan-out: one query to the retriever."""

import asyncio
import logging

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.branch_failure import BRANCH_ENDS, branch_failure
from citeloop.retrieval.document_search import DocumentSearch
from citeloop.state.graph_state import Passage
from citeloop.state.multi_query_config import RagFusionConfig, StepBackConfig
from citeloop.state.multi_query_state import DocumentSearchTask, FoundDocuments

_log = logging.getLogger(__name__)


class SearchedDocuments(TypedDict):
    """What the branch found, or why it dropped out, under a key of its own."""

    found: dict[str, FoundDocuments]


async def search_documents(
    task: DocumentSearchTask,
    runtime: Runtime[RagFusionConfig | StepBackConfig],
    config: RunnableConfig,
    *,
    search: DocumentSearch,
) -> SearchedDocuments:
    """Search within the time limit. A failed or slow branch is recorded and logged; its siblings stand."""
    settings = runtime.context
    passages: list[Passage] = []
    error = ""
    try:
        async with asyncio.timeout(settings.search_timeout_s):
            found = await search.search(task["query"], settings.depth, task["request"]["corpora"], config)
            passages, error = found.passages, "; ".join(found.failures)
    except BRANCH_ENDS as failure:  # whatever went wrong in one branch must not end the others
        error = branch_failure(failure, settings.search_timeout_s)
        _log.warning("query %r dropped out: %s", task["query"], error)
    result = FoundDocuments(query=task["query"], origin=task["origin"], passages=passages, error=error)
    return SearchedDocuments(found={task["key"]: result})
