"""A graph that closes its audit rows however its run ends."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Self

from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph

from citeloop.errors import CiteloopError, InvalidRequest, StoreError
from citeloop.governance.audit import Outcome
from citeloop.governance.door import Door
from citeloop.governance.run_record import RunRecord
from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.graph.input_check import checked_input
from citeloop.graph.run_settings import Settings
from citeloop.state.config import RAGConfig, stricter_review

_log = logging.getLogger(__name__)


class AuditedGraph(ConfiguredGraph[Settings]):
    """Writes the ended row that no node can: of a run that fails, is cancelled or interrupted, and so runs no further.

    A killed process leaves the asked row alone, which ``citeloop audit verify`` reports.
    """

    _door: Door
    _resumable: bool

    @classmethod
    def keeping(
        cls,
        compiled: CompiledStateGraph[Any, Any, Any, Any],
        door: Door,
        default_context: Settings,
        *,
        resumable: bool = True,
    ) -> Self:
        """The graph ``compiled``, its ends kept by ``door``; runs without a context of their own take the default.

        ``resumable``: whether threads keep the steps, so that a run can go on from any of them.
        """
        graph = cls.configured(compiled, default_context)
        graph._door, graph._resumable = door, resumable
        return graph

    async def _kept(self, run: AsyncGenerator[Any], record: RunRecord) -> AsyncGenerator[Any]:
        try:
            async with aclosing(run) as chunks:
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

    def _checked(self, input: Any, settings: Settings) -> Any:
        if self._may_pause(settings) and not self.checkpointer:
            raise InvalidRequest("an answer that waits for review needs a thread: ask on one, or set review to off")
        return checked_input(input, self.builder.input_schema.__annotations__, resumable=self._resumable)

    def _may_pause(self, settings: Settings) -> bool:
        """Whether an answer may wait for a person's decision: as the stricter of the engine and the run has it."""
        default = self._default_context
        if not (isinstance(settings, RAGConfig) and isinstance(default, RAGConfig)):
            return False
        return stricter_review(settings.review, default.review) != "off"

    async def _end(self, record: RunRecord, outcome: Outcome, error: BaseException | None = None) -> None:
        body: dict[str, Any] = {"outcome": outcome}
        if error is not None:
            body["error"] = error.code if isinstance(error, CiteloopError) else type(error).__name__
        try:
            await self._door.end(record, body)
        except StoreError as lost:  # what ended the run matters more; `audit verify` reports the missing end
            _log.error("the end (%s) of request %s could not be kept: %s", outcome, record.request_id, lost)
