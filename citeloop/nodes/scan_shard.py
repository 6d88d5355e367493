"""One branch of a full scan: every chunk of one shard of a corpus."""

from langchain_core.runnables import RunnableConfig

from citeloop.governance.identity import caller_of
from citeloop.retrieval.scan import CorpusScanner
from citeloop.retrieval.search_branch import Searched, search_as_branch
from citeloop.state.graph_state import ScanTask
from citeloop.workers import WorkerPool


async def scan_shard(
    task: ScanTask, config: RunnableConfig, *, scanner: CorpusScanner, workers: WorkerPool
) -> Searched:
    """Scan the shard within the time allowed to the whole scan, waiting for a worker included.

    A failed shard is recorded and logged: what it holds is missing, its siblings stand. Where the run is cancelled,
    shards that no worker has begun are never read.
    """
    branch = f"{task['round']:02d}|{task['query']}|{task['corpus']}|{task['shard']:06d}"
    return await search_as_branch(branch, task, workers.run(scanner.scan, task, caller_of(config)))
