"""A graph whose runs have checked settings, known inputs and a record of their own."""

import copy
import functools
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Generic, Self, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from pydantic import BaseModel

from citeloop.governance.run_record import RunRecord, attach_run_record
from citeloop.graph.input_check import checked_input
from citeloop.graph.run_settings import Settings, read_settings
from citeloop.graph.sync_bridge import BridgedGraph
from citeloop.graph.trace_metadata import attach_trace_metadata
from citeloop.state.config import RAGConfig
from citeloop.state.multi_query_config import MultiQueryConfig


class ConfiguredGraph(BridgedGraph, Generic[Settings]):
    """Runs with settings of its own where a run brings none, and refuses what it would else drop without a word."""

    _default_context: Settings

    @classmethod
    def configured(cls, compiled: CompiledStateGraph[Any, Any, Any, Any], default_context: Settings) -> Self:
        """The graph ``compiled``; runs without a context of their own take ``default_context``."""
        graph = cls.over(compiled)
        graph._default_context = default_context
        return graph

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncGenerator[Any]:
        """As ``CompiledStateGraph.astream``; see there for the options. ``context`` may be plain JSON."""
        record, parent = RunRecord(), _parent_runtime()
        settings = self._settings(context, parent)
        if parent is None:
            input = self._checked(input, settings)
        config = attach_trace_metadata(_bounded(config, settings), input, self._strategy(settings))
        run = super().astream(input, attach_run_record(config, record), context=settings, **options)
        async with aclosing(self._kept(cast(AsyncGenerator[Any], run), record)) as chunks:
            async for chunk in chunks:
                yield chunk

    def get_context_jsonschema(self) -> dict[str, Any]:
        """As ``CompiledStateGraph.get_context_jsonschema``; made once, as the server asks for it with every run."""
        return copy.deepcopy(_schema_of(type(self._default_context)))

    def _kept(self, run: AsyncGenerator[Any], record: RunRecord) -> AsyncGenerator[Any]:
        """``run``; the place where a subclass sees how it ends."""
        return run

    def _checked(self, input: Any, settings: Settings) -> Any:
        """``input`` as the graph takes it. Raises ``InvalidRequest`` where it cannot be taken."""
        return checked_input(input, self.builder.input_schema.__annotations__)

    def _settings(self, context: Settings | Mapping[str, Any] | None, parent: Runtime[Any] | None) -> Settings:
        kind: type[Settings] = type(self._default_context)
        if context:
            return read_settings(context, kind)
        inherited: object = getattr(parent, "context", None)
        return inherited if isinstance(inherited, kind) else self._default_context

    def _strategy(self, settings: Settings) -> str:
        return settings.strategy if isinstance(settings, RAGConfig) else self.name


def _bounded(config: RunnableConfig | None, settings: BaseModel) -> RunnableConfig:
    config = config or RunnableConfig()
    if isinstance(settings, MultiQueryConfig):
        config = {"max_concurrency": settings.max_concurrency, **config}
    return config


@functools.cache
def _schema_of(settings: type[BaseModel]) -> dict[str, Any]:
    return settings.model_json_schema()


def _parent_runtime() -> Runtime[Any] | None:
    """The runtime of the graph that this one is a node of."""
    try:
        runtime = get_runtime()
    except (RuntimeError, KeyError):  # not called from a node
        return None
    return runtime if isinstance(runtime, Runtime) else None  # the LangGraph server puts one of its own there
