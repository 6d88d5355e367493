"""Nodes with their collaborators tied in."""

import functools
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from citeloop.governance.door import Door
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import run_record_of
from citeloop.graph.progress import progress_of

Node = Callable[..., Awaitable[Any]]

_ALWAYS = {"runtime": Runtime, "config": RunnableConfig}
"""What ``bind`` itself needs of LangGraph, whatever the node takes."""


def bind(node: Node, *, behind: Door | None = None, **collaborators: object) -> Node:
    """``node`` as LangGraph calls it: collaborators filled in, its time counted in the run's record, progress told.

    A node ``behind`` a door lets the run in first, should it be the first node of a run that went past ``authorize``.

    The wrapper keeps the node's name and hints, from which LangGraph reads the input schema, and shows a signature
    without the collaborators, from which it reads what to inject.
    """
    parameters = [p for p in inspect.signature(node).parameters.values() if p.name not in collaborators]
    wanted = {parameter.name for parameter in parameters}
    parameters += [_injected(name, hint) for name, hint in _ALWAYS.items() if name not in wanted]

    @functools.wraps(node)
    async def bound(state: Any, *, config: RunnableConfig, runtime: Runtime[Any] | None = None) -> Any:
        injected = {name: value for name, value in (("config", config), ("runtime", runtime)) if name in wanted}
        record = run_record_of(config)
        if behind is not None and not record.admitted:
            await behind.admit_resumed(record, caller_of(config), state)
        started = time.perf_counter()
        try:
            update = await node(state, **injected, **collaborators)
        finally:
            milliseconds = 1000 * (time.perf_counter() - started)
            record.add_time(node.__name__, milliseconds)
        if runtime is not None:
            runtime.stream_writer(progress_of(node.__name__, state, update, milliseconds))
        return update

    bound.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return bound


def _injected(name: str, hint: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint)
