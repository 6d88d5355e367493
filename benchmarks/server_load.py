"""What the served graph bears: many clients at once, over a chat endpoint that takes half a second.

    python benchmarks/server_load.py DATA_DIR [--clients 50] [--seconds 120] [--delay 0.5] [--strategy standard]

Indexes the documents at and under DATA_DIR, starts ``langgraph dev`` with one job a client, and a local stand-in for an
OpenAI-compatible endpoint that answers after ``--delay`` seconds. Each client asks one question after the other by the
SDK. Told: answers a second beside the endpoint's limit (clients / delay), the same against a server that would do
nothing but wait for it, latency, errors, and the server's memory after the warm-up and at the end.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from citeloop import UserContext, open_engine

REPOSITORY = Path(__file__).parents[1]
WARM_UP_S = 15
REPLY = "The handbook says so. [1]"


class Asked(NamedTuple):
    """One question: when it began, in seconds since the start, how long it took, and what went wrong."""

    began: float
    seconds: float
    error: str


def chat_endpoint(delay: float) -> Starlette:
    """Answers every chat completion alike, ``delay`` seconds later."""

    async def complete(request: Request) -> JSONResponse:
        await request.body()
        await asyncio.sleep(delay)
        message = {"role": "assistant", "content": REPLY}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return JSONResponse(
            {"id": "x", "object": "chat.completion", "created": 0, "model": "x", "choices": [choice], "usage": usage}
        )

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])


@contextmanager
def serving(app: Starlette) -> Iterator[str]:
    """The base URL of ``app``, served by a thread of this process."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def dev_server(home: Path, jobs: int, endpoint: str) -> Iterator[tuple[str, int]]:
    """The URL and the process id of a ``langgraph dev`` over ``home``."""
    port = free_port()
    folder = home.parent
    config = json.loads((REPOSITORY / "langgraph.json").read_text("utf-8"))
    (folder / "langgraph.json").write_text(json.dumps({**config, "env": {}, "dependencies": [str(REPOSITORY)]}))
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"]
    command += ["--port", str(port), "--n-jobs-per-worker", str(jobs), "--config", str(folder / "langgraph.json")]
    variables = {"CITELOOP_HOME": str(home), "OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": "none"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env={**os.environ, **variables}, cwd=folder, stdout=log, stderr=log)
    try:
        wait_until_up(f"http://127.0.0.1:{port}/ok", process)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait(timeout=60)


def wait_until_up(url: str, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise SystemExit("the server ended at its start; see its log")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server did not come up")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def load(url: str, clients: int, seconds: float, strategy: str) -> list[Asked]:
    """All questions that ``clients`` clients asked within ``seconds``."""
    start = time.perf_counter()
    asked: list[Asked] = []

    async def ask(client: LangGraphClient, number: int) -> None:
        count = 0
        while (began := time.perf_counter() - start) < seconds:
            count += 1
            payload = {"question": f"How is case {number}.{count} handled?", "access_reason": "load"}
            error = ""
            context: Any = {"strategy": strategy, "max_correction_rounds": 0}
            try:
                state = await client.runs.wait(None, "query", input=payload, context=context)
                error = "" if state["answer"] else "no answer"
            except Exception as problem:
                error = f"{type(problem).__name__}: {problem}"[:200]
            asked.append(Asked(began, time.perf_counter() - start - began, error))

    async def one(number: int) -> None:
        async with get_client(url=url) as client:
            await ask(client, number)

    await asyncio.gather(*(one(number) for number in range(clients)))
    return asked


def resident_mib(process: int) -> float:
    """Memory that the process holds, in MiB (Linux)."""
    lines = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def report(asked: list[Asked], options: argparse.Namespace, memory: tuple[float, float]) -> None:
    good = sorted(question.seconds for question in asked if not question.error)
    errors = [question.error for question in asked if question.error]
    span = max(question.began + question.seconds for question in asked)
    rate, limit = len(good) / span, options.clients / options.delay
    p99 = good[int(0.99 * (len(good) - 1))]
    print(f"{options.clients} clients, {span:.0f} s, strategy {options.strategy}, endpoint {options.delay} s")
    print(f"answers: {len(good)}, errors: {len(errors)}{' such as ' + errors[0] if errors else ''}")
    print(f"answers a second: {rate:.1f} of {limit:.0f} that the endpoint would give ({rate / limit:.0%})")
    print(f"seconds a question: p50 {statistics.median(good):.2f}, p99 {p99:.2f}")
    print(f"memory of the server: {memory[0]:.0f} MiB after the warm-up, {memory[1]:.0f} MiB at the end")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--strategy", default="standard")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        engine = open_engine(home)
        engine.indexer.index([options.data], "load", UserContext())
        engine.close()
        with (
            serving(chat_endpoint(options.delay)) as endpoint,
            dev_server(home, options.clients, endpoint) as (url, pid),
        ):
            asyncio.run(load(url, options.clients, WARM_UP_S, options.strategy))
            before = resident_mib(pid)
            asked = asyncio.run(load(url, options.clients, options.seconds, options.strategy))
            report(asked, options, (before, resident_mib(pid)))


if __name__ == "__main__":
    main()
