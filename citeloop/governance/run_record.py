"""What is known of a run outside its state: whether its audit rows are written, and how long its nodes took."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from langchain_core.runnables import RunnableConfig

_KEY: Final = "__citeloop_run"  # two underscores: LangGraph keeps such keys out of checkpoints and copies


@dataclass(slots=True)
class RunRecord:
    """Lives as long as one ``astream`` of a graph; shared by its nodes; never checkpointed."""

    admitted: bool = False
    """Set when the run was let in."""
    request_id: str | None = None
    """Set with the asked row."""
    asking: asyncio.Future[None] | None = None
    """The writing of the asked row."""
    ended: bool = False
    """Set when the ended row is."""
    timings_ms: dict[str, float] = field(default_factory=dict)
    """Milliseconds by node, summed over its runs; parallel branches add up."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a run is let in."""

    def add_time(self, node: str, milliseconds: float) -> None:
        """Count a run of ``node``."""
        self.timings_ms[node] = round(self.timings_ms.get(node, 0.0) + milliseconds, 3)


def attach_run_record(config: RunnableConfig | None, record: RunRecord) -> RunnableConfig:
    """``config`` for a run whose nodes write into ``record``."""
    config = config or RunnableConfig()
    return {**config, "configurable": {**(config.get("configurable") or {}), _KEY: record}}


def run_record_of(config: RunnableConfig) -> RunRecord:
    """The record of this run; a fresh one where a node is called by itself."""
    record = (config.get("configurable") or {}).get(_KEY)
    return record if isinstance(record, RunRecord) else RunRecord()
