"""The event loop on which synchronous calls run their graphs: one thread a process, started at first use."""

import asyncio
import contextlib
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


class EngineLoop:
    """An event loop in a daemon thread. Thread-safe; a forked child gets a fresh one."""

    def __init__(self) -> None:
        self._start_lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._forget)

    def submit(self, coroutine: Coroutine[object, object, Result]) -> "Future[Result]":
        """Schedule ``coroutine`` on the loop; the future can be waited for, or cancelled, from any other thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._running_loop())

    def is_current_thread(self) -> bool:
        """Whether the caller stands on the loop's own thread, where waiting for it would never end."""
        return threading.current_thread() is self._thread

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._start_lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="citeloop-engine", daemon=True)
                self._thread.start()
            return self._loop

    def _forget(self) -> None:
        # Only the forking thread lives on in the child: the loop's thread, and whoever held the lock, do not.
        self._start_lock = threading.Lock()
        self._loop = None
        self._thread = None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run ``loop`` for ever: asyncio lets these two errors of a task, and no others, end its loop."""
    while True:
        with contextlib.suppress(SystemExit, KeyboardInterrupt):  # whoever waits for the task gets them too
            loop.run_forever()


engine_loop = EngineLoop()
"""The loop of this process."""
