"""Nodes with their collaborators tied in."""

import functools
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig

from citeloop.governance.door import Door
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import run_record_of

Node = Callable[..., Awaitable[Any]]


def bind(node: Node, *, behind: Door | None = None, **collaborators: object) -> Node:
    """``node`` as LangGraph calls it: collaborators filled in, its time counted in the run's record.

    A node ``behind`` a door lets the run in first, should it be the first node of a run that went past ``authorize``.

    The wrapper keeps the node's name and hints, from which LangGraph reads the input schema, and shows a signature
    without the collaborators, from which it reads what to inject.
    """
    parameters = [p for p in inspect.signature(node).parameters.values() if p.name not in collaborators]
    takes_config = any(parameter.name == "config" for parameter in parameters)
    if not takes_config:
        parameters.append(inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, annotation=RunnableConfig))

    @functools.wraps(node)
    async def bound(state: Any, *, config: RunnableConfig, **injected: Any) -> Any:
        if takes_config:
            injected["config"] = config
        record = run_record_of(config)
        if behind is not None and not record.admitted:
            await behind.admit_resumed(record, caller_of(config), state)
        started = time.perf_counter()
        try:
            return await node(state, **injected, **collaborators)
        finally:
            record.add_time(node.__name__, 1000 * (time.perf_counter() - started))

    bound.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return bound
