"""The command line as people run it, in a process of its own with a clean environment; and, by ``Run``, in ours."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess, Popen
from typing import IO, Protocol

REPOSITORY = Path(__file__).parents[1]


class Run(Protocol):
    """``citeloop ARGUMENTS`` in this process, as its entry point runs it: the fixture ``run``.

    For what a command says and does; a process of its own is for what one is about: imports, signals, several at once.
    """

    def __call__(self, home: Path, *arguments: str, **variables: str) -> "CompletedProcess[str]": ...


def environment(home: Path, **variables: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    settings = {"PYTHONPATH": str(REPOSITORY), "CITELOOP_HOME": str(home), "PYTHONWARNINGS": "error"}
    return {**kept, "HF_HUB_OFFLINE": "1", **settings, **variables}


def start(home: Path, *arguments: str, stdout: int | IO[str] = subprocess.PIPE, **variables: str) -> "Popen[str]":
    """``citeloop ARGUMENTS``, running."""
    return Popen(
        [sys.executable, "-m", "citeloop.cli", *arguments],
        env=environment(home, **variables),
        cwd=home.parent,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )


def citeloop(
    home: Path, *arguments: str, before: Callable[[], None] | None = None, **variables: str
) -> "CompletedProcess[str]":
    """``citeloop ARGUMENTS``, ended; ``before`` runs in the new process."""
    return subprocess.run(
        [sys.executable, "-m", "citeloop.cli", *arguments],
        env=environment(home, **variables),
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=before,
    )
