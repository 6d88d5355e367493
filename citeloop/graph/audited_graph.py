"""A graph that closes its audit rows however its run ends."""

import asyncio
import copy
import functools
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Command

from citeloop.errors import CiteloopError, InvalidRequest, StoreError
from citeloop.governance.audit import Outcome
from citeloop.governance.door import Door
from citeloop.governance.run_record import RunRecord, attach_run_record
from citeloop.graph.run_settings import read_settings
from citeloop.graph.sync_bridge import BridgedGraph
from citeloop.graph.trace_metadata import attach_trace_metadata
from citeloop.state.config import RAGConfig, stricter_review

_log = logging.getLogger(__name__)


class AuditedGraph(BridgedGraph):
    """Writes the ended row that no node can: of a run that fails, is cancelled or interrupted, and so runs no further.

    A killed process leaves the asked row alone, which ``citeloop audit verify`` reports.
    """

    _door: Door
    _default_context: RAGConfig
    _resumable: bool

    @classmethod
    def keeping(
        cls,
        compiled: CompiledStateGraph[Any, Any, Any, Any],
        door: Door,
        default_context: RAGConfig,
        *,
        resumable: bool = True,
    ) -> Self:
        """The graph ``compiled``, its ends kept by ``door``; runs without a context of their own take the default.

        ``resumable``: whether threads keep the steps, so that a run can go on from any of them.
        """
        graph = cls.over(compiled)
        graph._door, graph._default_context, graph._resumable = door, default_context, resumable
        return graph

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncGenerator[Any]:
        """As ``CompiledStateGraph.astream``; see there for the options."""
        record, parent = RunRecord(), _parent_runtime()
        inherited = getattr(parent, "context", None)
        default = inherited if isinstance(inherited, RAGConfig) else self._default_context
        settings = read_settings(context, RAGConfig) if context else default
        if parent is None:
            self._refuse_unusable(input, settings)
        try:
            config = attach_run_record(attach_trace_metadata(config, input, settings), record)
            run = super().astream(input, config, context=settings, **options)
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

    def get_context_jsonschema(self) -> dict[str, Any]:
        """As ``CompiledStateGraph.get_context_jsonschema``; made once, as the server asks for it with every run."""
        return copy.deepcopy(_settings_schema())

    def _refuse_unusable(self, input: object, settings: RAGConfig) -> None:
        known = self.builder.input_schema.__annotations__
        unknown = sorted(set(input) - set(known)) if isinstance(input, Mapping) else []
        if unknown:  # LangGraph drops them silently: a misspelt `corpora` would widen the search to everything
            told = ", ".join(map(repr, unknown))
            raise InvalidRequest(f"unknown input {told}; the inputs are {', '.join(sorted(known))}")
        if not self._resumable and not _is_question_or_decision(input):
            raise InvalidRequest("threads keep no steps here, so a run cannot go on from one; ask the question again")
        if stricter_review(settings.review, self._default_context.review) != "off" and not self.checkpointer:
            raise InvalidRequest("an answer that waits for review needs a thread: ask on one, or set review to off")

    async def _end(self, record: RunRecord, outcome: Outcome, error: BaseException | None = None) -> None:
        body: dict[str, Any] = {"outcome": outcome}
        if error is not None:
            body["error"] = error.code if isinstance(error, CiteloopError) else type(error).__name__
        try:
            await self._door.end(record, body)
        except StoreError as lost:  # what ended the run matters more; `audit verify` reports the missing end
            _log.error("the end (%s) of request %s could not be kept: %s", outcome, record.request_id, lost)


@functools.cache
def _settings_schema() -> dict[str, Any]:
    return RAGConfig.model_json_schema()


def _is_question_or_decision(input: object) -> bool:
    if isinstance(input, Command):
        return input.resume is not None and not input.goto and not input.update
    return input is not None


def _parent_runtime() -> Runtime[Any] | None:
    """The runtime of the graph that this one is a node of."""
    try:
        return get_runtime()
    except (RuntimeError, KeyError):  # not called from a node
        return None
