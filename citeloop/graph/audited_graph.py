"""A graph that closes its audit rows however its run ends."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph

from citeloop.errors import CiteloopError, StoreError
from citeloop.governance.audit import AuditLog, Outcome
from citeloop.governance.run_record import RunRecord, attach_run_record
from citeloop.graph.sync_bridge import BridgedGraph
from citeloop.workers import WorkerPool

_log = logging.getLogger(__name__)


class AuditedGraph(BridgedGraph):
    """Writes the ended row of a run that did not come to its own: failed, cancelled or interrupted.

    A cancelled run runs no further node, so no node can do it. A killed process leaves the asked row alone, which
    ``citeloop audit verify`` reports.
    """

    _audit: AuditLog
    _workers: WorkerPool

    @classmethod
    def keeping(cls, compiled: CompiledStateGraph[Any, Any, Any, Any], audit: AuditLog, workers: WorkerPool) -> Self:
        """The graph ``compiled`` with its ends kept in ``audit``."""
        graph = cls.over(compiled)
        graph._audit, graph._workers = audit, workers
        return graph

    async def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncGenerator[Any]:
        """As ``CompiledStateGraph.astream``; see there for the options."""
        record = RunRecord()
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
