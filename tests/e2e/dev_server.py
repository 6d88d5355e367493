"""A real ``langgraph dev``, blocking-call detection on, over stores of the tests' own."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")
"""Variables that the server gets of ours: no key and no setting of the developer's is among them."""


class DevServer(NamedTuple):
    """A running server."""

    url: str
    home: Path
    """The folder of its stores."""
    log_file: Path

    def log(self) -> str:
        """All that it has said so far."""
        return self.log_file.read_text("utf-8", errors="replace")


@contextmanager
def dev_server(home: Path, folder: Path, *arguments: str, **variables: str) -> Iterator[DevServer]:
    """A server over the stores in ``home``, run in ``folder``; more arguments of ``langgraph dev``, more variables."""
    port = _free_port()
    server = DevServer(f"http://127.0.0.1:{port}", home, folder / "log")
    with start_dev_server(server.home, folder, ["--port", str(port), *arguments], **variables) as process:
        try:
            _wait_until_up(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(timeout=30)


def start_dev_server(
    home: Path, folder: Path, arguments: Sequence[str] = (), **variables: str
) -> "subprocess.Popen[bytes]":
    """The process, as it starts; what it says goes to ``folder / "log"``."""
    program = Path(sys.executable).with_name("langgraph")
    command = [program, "dev", "--no-browser", "--no-reload", "--config", str(_write_config(folder)), *arguments]
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= {"CITELOOP_HOME": str(home), "PYTHONPATH": str(REPOSITORY), "HF_HUB_OFFLINE": "1", **variables}
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


def _write_config(folder: Path) -> Path:
    """The repository's own, without the developer's ``.env``."""
    config = json.loads((REPOSITORY / "langgraph.json").read_text("utf-8"))
    path = folder / "langgraph.json"
    path.write_text(json.dumps({**config, "env": {}, "dependencies": [str(REPOSITORY)]}), encoding="utf-8")
    return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(server: DevServer, process: "subprocess.Popen[bytes]", seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/ok", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the dev server did not come up:\n{server.log()[-3000:]}")
