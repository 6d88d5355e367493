"""A graph that closes its audit rows however its run ends."""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph

from citeloop.errors import CiteloopError, StoreError
from citeloop.governance.audit import AuditLog, Outcome
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import RunRecord, attach_run_record
from citeloop.graph.sync_bridge import BridgedGraph
from citeloop.workers import WorkerPool

_log = logging.getLogger(__name__)


class AuditedGraph(BridgedGraph):
    """Writes the audit rows that no node can: of runs that begin behind the door, and of those that do not end.

    A run that goes on from a checkpoint, or jumps (``Command``), does not pass ``authorize``: it gets an asked row of
    its own before its first node. A run that fails, is cancelled or interrupted runs no further node: its ended row is
    written here. A killed process leaves the asked row alone, which ``citeloop audit verify`` reports.
    """

    _audit: AuditLog
    _workers: WorkerPool
    _always: bool

    @classmethod
    def keeping(
        cls, compiled: CompiledStateGraph[Any, Any, Any, Any], audit: AuditLog, workers: WorkerPool, *, always: bool
    ) -> Self:
        """The graph ``compiled`` with its runs kept in ``audit``; unless ``always``, a run may ask not to be."""
        graph = cls.over(compiled)
        graph._audit, graph._workers, graph._always = audit, workers, always
        return graph

    async def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncGenerator[Any]:
        """As ``CompiledStateGraph.astream``; see there for the options."""
        record = RunRecord()
        if self._always and not isinstance(input, Mapping):
            await self._begin_behind_the_door(record, config or {})
        try:
            run = super().astream(input, attach_run_record(config, record), **options)
            async with aclosing(cast(AsyncGenerator[Any], run)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except (asyncio.CancelledError, GeneratorExit):
            await self._end(record, "cancelled")
            raise
        except GraphBubbleUp:  # an interrupt on its way through the graph above
            await self._end(record, "interrupted")
            raise
        except Exception as error:
            await self._end(record, "failed", error=error)
            raise
        await self._end(record, "interrupted")

    async def _begin_behind_the_door(self, record: RunRecord, config: RunnableConfig) -> None:
        thread = (config.get("configurable") or {}).get("thread_id")
        body = {"user": caller_of(config).user_id, "command": "resume", "thread": str(thread)}
        record.request_id = str(uuid.uuid4())
        await self._workers.run(self._audit.append, record.request_id, "asked", body)

    async def _end(self, record: RunRecord, outcome: Outcome, error: Exception | None = None) -> None:
        if record.request_id is None or record.ended:
            return
        record.ended = True
        body: dict[str, Any] = {"outcome": outcome}
        if error is not None:
            body["error"] = error.code if isinstance(error, CiteloopError) else type(error).__name__
        try:
            await asyncio.shield(self._workers.run(self._audit.append, record.request_id, "ended", body))
        except StoreError as lost:  # what ended the run matters more; `audit verify` reports the missing end
            _log.error("the end (%s) of request %s could not be kept: %s", outcome, record.request_id, lost)
