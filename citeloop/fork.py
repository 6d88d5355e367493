"""Methods called around a fork: only the forking thread lives on in the child, locks held by others stay locked."""

import os
import weakref
from collections.abc import Callable


def call_before_fork(method: Callable[[], None]) -> None:
    """Call the bound ``method`` before each fork, as long as its object lives."""
    if hasattr(os, "register_at_fork"):  # there is no fork on Windows
        os.register_at_fork(before=_weakly(method))


def call_after_fork(method: Callable[[], None]) -> None:
    """Call the bound ``method`` in each forked child, before anything else runs there, as long as its object lives."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_weakly(method))


def _weakly(method: Callable[[], None]) -> Callable[[], None]:
    reference = weakref.WeakMethod(method)

    def call() -> None:
        if (bound := reference()) is not None:
            bound()

    return call
