"""The synchronous face of a graph whose nodes are all ``async def`` (docs/adr/0002-sync-bridge.md)."""

import asyncio
import contextlib
import queue
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateUpdate

from citeloop.errors import UsageError
from citeloop.graph.engine_loop import engine_loop

_CLEAN_UP_S = 5.0
"""Seconds that closing the synchronous generator waits for the cancelled run to end."""


@dataclass(frozen=True, slots=True)
class _End:
    """Last item of the bridge's queue: the error that ended the run, if one did."""

    error: BaseException | None = None


class BridgedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph whose ``stream`` (and so ``invoke`` and ``batch``) pumps ``astream`` on the engine's loop.

    ``update_state`` goes the same way; ``get_state`` only reads and needs no bridge.

    Works in plain scripts, under a running event loop, in threads and after a fork. Closing the synchronous generator
    cancels the run with all its branches. Called from the engine's own loop it raises ``UsageError``.
    """

    @classmethod
    def over(cls, compiled: CompiledStateGraph[Any, Any, Any, Any]) -> Self:
        """The same graph with this class's faces; ``compile`` names its own class, so its result is taken over."""
        graph = cls.__new__(cls)
        graph.__dict__.update(compiled.__dict__)
        return graph

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """As ``CompiledStateGraph.copy`` (``with_config`` rests on it), keeping what subclasses add."""
        graph = self.over(self)
        graph.__dict__.update(update or {})
        return graph

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        """As ``CompiledStateGraph.stream``; see there for the options."""
        if engine_loop.is_current_thread():
            raise UsageError("synchronous call from the engine's own event loop; use ainvoke or astream in async code")
        chunks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        pump = self._pump(self.astream(input, config, **options), chunks)
        run = engine_loop.submit(pump)
        chunk: Any = None
        try:
            while not isinstance(chunk := chunks.get(), _End):
                yield chunk
        finally:
            if not isinstance(chunk, _End):  # closed early: the run's own clean-up comes first, but never for ever
                run.cancel()
                _await_end(chunks)
        if chunk.error is not None:
            raise chunk.error

    def bulk_update_state(self, config: RunnableConfig, supersteps: Sequence[Sequence[StateUpdate]]) -> RunnableConfig:
        """As ``CompiledStateGraph.bulk_update_state`` (``update_state`` rests on it); routers are ``async`` as well."""
        if engine_loop.is_current_thread():
            raise UsageError("synchronous call from the engine's own event loop; use aupdate_state in async code")
        return engine_loop.submit(self.abulk_update_state(config, supersteps)).result()

    @staticmethod
    async def _pump(chunks: AsyncIterator[Any], into: "queue.SimpleQueue[Any]") -> None:
        try:
            async for chunk in chunks:
                into.put(chunk)
        except asyncio.CancelledError as error:
            into.put(_End(error))
            raise
        except BaseException as error:  # a panic of a Rust extension is no Exception: the caller must not wait for ever
            into.put(_End(error))
        else:
            into.put(_End())


def _await_end(chunks: "queue.SimpleQueue[Any]") -> None:
    with contextlib.suppress(queue.Empty):
        while not isinstance(chunks.get(timeout=_CLEAN_UP_S), _End):
            pass
