"""A graph that closes its audit rows however its run ends."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime

from citeloop.errors import CiteloopError, InvalidRequest, StoreError
from citeloop.governance.audit import Outcome
from citeloop.governance.door import Door
from citeloop.governance.run_record import RunRecord, attach_run_record
from citeloop.graph.sync_bridge import BridgedGraph
from citeloop.state.config import RAGConfig

_log = logging.getLogger(__name__)


class AuditedGraph(BridgedGraph):
    """Writes the ended row that no node can: of a run that fails, is cancelled or interrupted, and so runs no further.

    A killed process leaves the asked row alone, which ``citeloop audit verify`` reports.
    """

    _door: Door
    _default_context: RAGConfig

    @classmethod
    def keeping(cls, compiled: CompiledStateGraph[Any, Any, Any, Any], door: Door, default_context: RAGConfig) -> Self:
        """The graph ``compiled``, its ends kept by ``door``; runs without a context of their own take the default."""
        graph = cls.over(compiled)
        graph._door, graph._default_context = door, default_context
        return graph

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncGenerator[Any]:
        """As ``CompiledStateGraph.astream``; see there for the options."""
        record, parent = RunRecord(), _parent_runtime()
        if parent is None:
            self._refuse_unknown_inputs(input)
        inherited = getattr(parent, "context", None)
        context = context or (inherited if isinstance(inherited, RAGConfig) else self._default_context)
        try:
            run = super().astream(input, attach_run_record(config, record), context=context, **options)
            async with aclosing(cast(AsyncGenerator[Any], run)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except (asyncio.CancelledError, GeneratorExit):
            await self._end(record, "cancelled")
            raise
        except GraphBubbleUp:  # an interrupt on its way through the graph above
            await self._end(record, "interrupted")
            raise
        except BaseException as error:  # a panic of a compiled library is no Exception
            await self._end(record, "failed", error=error)
            raise
        await self._end(record, "interrupted")

    def _refuse_unknown_inputs(self, input: object) -> None:
        """LangGraph drops unknown keys silently: a misspelt ``corpora`` would widen the search to everything."""
        unknown = (
            sorted(set(input) - set(self.builder.input_schema.__annotations__)) if isinstance(input, Mapping) else []
        )
        if unknown:
            known = ", ".join(sorted(self.builder.input_schema.__annotations__))
            raise InvalidRequest(f"unknown input {', '.join(map(repr, unknown))}; the inputs are {known}")

    async def _end(self, record: RunRecord, outcome: Outcome, error: BaseException | None = None) -> None:
        body: dict[str, Any] = {"outcome": outcome}
        if error is not None:
            body["error"] = error.code if isinstance(error, CiteloopError) else type(error).__name__
        try:
            await self._door.end(record, body)
        except StoreError as lost:  # what ended the run matters more; `audit verify` reports the missing end
            _log.error("the end (%s) of request %s could not be kept: %s", outcome, record.request_id, lost)


def _parent_runtime() -> Runtime[Any] | None:
    """The runtime of the graph that this one is a node of."""
    try:
        return get_runtime()
    except (RuntimeError, KeyError):  # not called from a node
        return None
