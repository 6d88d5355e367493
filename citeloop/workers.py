"""Threads for blocking work, so that the event loop never waits for a file, a store or a model."""

import asyncio
import contextvars
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from citeloop.errors import UsageError
from citeloop.fork import call_after_fork

P = ParamSpec("P")
T = TypeVar("T")

_log = logging.getLogger(__name__)


class WorkerPool:
    """A pool of ``size`` threads of our own (asyncio's own has six on two cores: eight slow calls take two rounds).

    Threads start when first needed. Event loops and threads may share it. A forked child gets fresh threads. Work that
    was given up, at a time limit perhaps, cannot be stopped: once it holds half of the threads, fresh ones take over.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._closed = False
        self._lock = threading.RLock()
        self._given_up = 0
        self._process_executor = self._start()
        call_after_fork(self._start_afresh)

    async def run(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """``function(*args, **kwargs)`` in a worker thread, under a copy of the caller's context variables.

        A cancelled wait returns at once; work that has not begun is dropped, work that has begun ends unheard. Raises
        what the function raises (RuntimeError for a StopIteration, which no future takes), and UsageError when the pool
        is closed.
        """
        call = partial(contextvars.copy_context().run, partial(_call, function, *args, **kwargs))
        with self._lock:  # so that no other thread retires the executor in between
            executor = self._executor()
            work = executor.submit(call)
        try:
            return await asyncio.wrap_future(work)
        except asyncio.CancelledError:
            if work.running():
                self._give_up(executor, work)
            raise

    def close(self) -> None:
        """Drop what has not begun, wait for what has. Further calls of ``run`` raise UsageError."""
        self._closed = True
        process, executor = self._process_executor
        if process == os.getpid():
            executor.shutdown(wait=True, cancel_futures=True)

    def _give_up(self, executor: ThreadPoolExecutor, work: Future[Any]) -> None:
        with self._lock:
            if executor is not self._process_executor[1] or self._closed:
                return
            self._given_up += 1
            work.add_done_callback(lambda _: self._come_back(executor))
            if 2 * self._given_up < self._size or work.done():
                return
            _log.warning("%d threads hang in work that was given up; fresh ones take over", self._given_up)
            self._process_executor, self._given_up = self._start(), 0
        executor.shutdown(wait=False)

    def _come_back(self, executor: ThreadPoolExecutor) -> None:
        with self._lock:
            if executor is self._process_executor[1]:
                self._given_up -= 1

    def _executor(self) -> ThreadPoolExecutor:
        if self._closed:
            raise UsageError("the engine is closed; open another one")
        return self._process_executor[1]

    def _start_afresh(self) -> None:
        """In a forked child: the parent's threads do not exist there, its executor would wait for ever."""
        self._lock, self._given_up = threading.RLock(), 0
        self._process_executor = self._start()

    def _start(self) -> tuple[int, ThreadPoolExecutor]:
        return os.getpid(), ThreadPoolExecutor(max_workers=self._size, thread_name_prefix="citeloop")


def _call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return function(*args, **kwargs)
    except StopIteration as error:
        raise RuntimeError(f"{function} raised StopIteration") from error
