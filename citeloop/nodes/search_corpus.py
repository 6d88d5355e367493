"""One branch of the fan-out: one query in one corpus."""

from langchain_core.runnables import RunnableConfig

from citeloop.governance.identity import caller_of
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.retrieval.search_branch import Searched, search_as_branch
from citeloop.state.graph_state import SearchTask
from citeloop.workers import WorkerPool


async def search_corpus(
    task: SearchTask, config: RunnableConfig, *, searcher: HybridSearcher, workers: WorkerPool
) -> Searched:
    """Search within the task's time limit. A failed or slow branch is recorded and logged; its siblings stand."""
    branch = f"{task['round']:02d}|{task['query']}|{task['corpus']}"
    return await search_as_branch(branch, task, workers.run(searcher.search, task, caller_of(config)))
