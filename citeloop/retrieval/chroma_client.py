"""Clients of an embedded Chroma, and why they do not survive a fork.

Chroma keeps threads that serve all clients of a process and end with none of them. A forked child has the clients but
not the threads: every call would wait for them, and so would freeing a client, even at the child's exit.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakSet

from citeloop.errors import UsageError

if TYPE_CHECKING:  # Chroma takes long to import: it is loaded with the first search
    from chromadb.api import ClientAPI
    from chromadb.config import System

_started_in: int | None = None
"""Id of the process that used Chroma first."""
_systems: WeakSet[System] = WeakSet()


def connect(folder: Path) -> ClientAPI:
    """A client that shares nothing with any other of this process (``PersistentClient`` hands out one per folder).

    Raises:
        UsageError: the process was forked from one that had used Chroma.
    """
    from chromadb.api.client import Client
    from chromadb.config import Settings, System

    _note_start()
    system = System(Settings(is_persistent=True, persist_directory=str(folder), anonymized_telemetry=False))
    system.start()
    _systems.add(system)
    return Client.from_system(system)


def lost_by_fork() -> bool:
    """Whether this process was forked from one that had used Chroma."""
    return _started_in not in (None, os.getpid())


def require_no_fork() -> None:
    """See to it that Chroma can be used.

    Raises:
        UsageError: this process was forked from one that had used it.
    """
    if lost_by_fork():
        raise UsageError(
            "Chroma was used before this process was forked and cannot be used in it; "
            "fork earlier, or start the process with multiprocessing's spawn method"
        )


def _note_start() -> None:
    global _started_in
    require_no_fork()
    if _started_in is None:
        _started_in = os.getpid()
        if hasattr(os, "register_at_fork"):  # there is no fork on Windows
            os.register_at_fork(after_in_child=_keep_for_ever)


def _keep_for_ever() -> None:
    for system in _systems:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(system))
