"""Which shards of which corpora a full scan reads."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.scan import CorpusScanner, ScanBranch
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import QueryState, ScanTask, SearchTask
from citeloop.workers import WorkerPool


class PlannedScan(TypedDict):
    """The shards of this round, and what they come to."""

    search_tasks: list[SearchTask]
    trace: dict[str, Any]


async def plan_scan(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    scanner: CorpusScanner,
    workers: WorkerPool,
) -> PlannedScan:
    """One task per query and shard of ``scan_shard_rows`` chunks of the corpora open to the caller."""
    settings = run_config(runtime.context, state["request"])
    queries = [query["text"] for query in state["queries"]] or [state["request"]["question"]]
    branches = await workers.run(
        scanner.plan, queries, state["request"]["corpora"], caller_of(config), settings.scan_shard_rows
    )
    return PlannedScan(search_tasks=[*_tasks(branches, state, settings)], trace={"scan": _told(branches)})


def _tasks(branches: list[ScanBranch], state: QueryState, settings: RAGConfig) -> list[ScanTask]:
    depth = settings.search_depth(state["analysis"]["strategy"], widened=state["correction"] == "widen")
    total = sum(branch.shard.rows for branch in branches)
    return [
        ScanTask(
            round=state["round"],
            query=branch.query,
            corpus=branch.corpus,
            depth=depth,
            term_weights=branch.term_weights if branch.number == 0 else {},
            timeout_s=settings.scan_timeout_s,
            command=state["request"]["command"],
            access_reason=state["request"]["access_reason"],
            shard=branch.number,
            total_rows=total,
            first_row=branch.shard.first_row,
            last_row=branch.shard.last_row,
            rows=branch.shard.rows,
        )
        for branch in branches
    ]


def _told(branches: list[ScanBranch]) -> dict[str, Any]:
    chunks: dict[str, int] = {}
    for branch in branches:
        chunks[branch.corpus] = chunks.get(branch.corpus, 0) + branch.shard.rows
    return {"chunks": sum(chunks.values()), "shards": len(branches), "chunks_of_corpora": chunks}
