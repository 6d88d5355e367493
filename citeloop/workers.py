"""Threads for blocking work, so that the event loop never waits for a file, a store or a model."""

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from citeloop.errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


class WorkerPool:
    """A pool of ``size`` threads of our own (asyncio's own has six on two cores: eight slow calls take two rounds).

    Threads start when first needed. Event loops and threads may share it. A forked child gets fresh threads.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._closed = False
        self._process_executor = self._start()

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """``function(*args, **kwargs)`` in a worker thread, under a copy of the caller's context variables.

        A cancelled wait returns at once; work that has not begun is dropped, work that has begun ends unheard. Raises
        what the function raises, and UsageError when the pool is closed.
        """
        call = partial(contextvars.copy_context().run, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._executor(), call)

    def close(self) -> None:
        """Drop what has not begun, wait for what has. Further calls of ``run`` raise UsageError."""
        self._closed = True
        process, executor = self._process_executor
        if process == os.getpid():
            executor.shutdown(wait=True, cancel_futures=True)

    def _executor(self) -> ThreadPoolExecutor:
        if self._closed:
            raise UsageError("the engine is closed; open another one")
        process, executor = self._process_executor
        if process != os.getpid():  # the parent's threads do not exist here, its executor would wait for ever
            self._process_executor = self._start()
            _, executor = self._process_executor
        return executor

    def _start(self) -> tuple[int, ThreadPoolExecutor]:
        return os.getpid(), ThreadPoolExecutor(max_workers=self._size, thread_name_prefix="citeloop")
