"""Nodes with their collaborators tied in."""

import functools
import inspect
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from citeloop.errors import CiteloopError, ModelError, RequestError, StoreError
from citeloop.governance.door import Door
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import run_record_of
from citeloop.graph.answer_release import RELEASING, release_answer
from citeloop.graph.progress import progress_of, verdicts_of

Node = Callable[..., Awaitable[Any]]

_log = logging.getLogger(__name__)

_ALWAYS = {"runtime": Runtime, "config": RunnableConfig}
"""What ``bind`` itself needs of LangGraph, whatever the node takes."""


def bind(node: Node, *, behind: Door | None = None, quiet: bool = False, **collaborators: object) -> Node:
    """``node`` as LangGraph calls it: collaborators filled in, its time counted in the run's record, progress told.

    A node ``behind`` a door lets the run in first, should it be the first node of a run that went past ``authorize``.
    The errors of a ``quiet`` one that could name files of this machine go to its log, and to the caller by code alone.

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
        except Exception as error:
            if not quiet or isinstance(error, RequestError | ModelError | GraphBubbleUp):
                raise
            _log.exception("%s failed", node.__name__)
            raise _told_by_code(error) from None
        finally:
            milliseconds = 1000 * (time.perf_counter() - started)
            record.add_time(node.__name__, milliseconds)
        if runtime is not None:
            _tell(node.__name__, state, update, milliseconds, runtime)
        return update

    bound.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return bound


def _tell(node: str, state: Any, update: Any, milliseconds: float, runtime: Runtime[Any]) -> None:
    for event in verdicts_of(node, state, update):
        runtime.stream_writer(event)
    if node in RELEASING:
        release_answer(node, update, runtime)
    runtime.stream_writer(progress_of(node, state, update, milliseconds))


def _told_by_code(error: Exception) -> StoreError:
    code = error.code if isinstance(error, CiteloopError) else type(error).__name__
    told = StoreError(f"the question could not be answered ({code}); the server's log has more")
    told.code = code
    return told


def _injected(name: str, hint: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint)
