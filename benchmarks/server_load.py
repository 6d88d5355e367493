"""What the served graph bears: many clients at once, over a chat endpoint that takes half a second.

    python benchmarks/server_load.py DATA_DIR [--clients 50] [--seconds 120] [--delay 0.5] [--strategy standard]

Indexes the documents at and under DATA_DIR, starts ``langgraph dev`` with one job a client, and a local stand-in for an
OpenAI-compatible endpoint that answers after ``--delay`` seconds. Each client asks one question after the other by the
SDK. Told: answers a second beside the endpoint's limit (clients / delay), latency, errors, the server's memory after
the warm-up and at the end. Before that, for a third of the time, the same clients ask a graph on the same server whose
one node waits ``--delay`` seconds: what the server and the clients by themselves leave of the limit on this machine.
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
FLOOR = """
import asyncio
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

class State(TypedDict, total=False):
    messages: list
    answer: str

async def wait(state: State) -> State:
    await asyncio.sleep({delay})
    return {{"answer": "waited"}}

graph = StateGraph(State).add_node("wait", wait).add_edge(START, "wait").add_edge("wait", END).compile()
"""


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
def dev_server(home: Path, jobs: int, endpoint: str, delay: float) -> Iterator[tuple[str, int]]:
    """The URL and the process id of a ``langgraph dev`` over ``home``, with a graph ``floor`` that only waits."""
    port = free_port()
    folder = home.parent
    (folder / "floor.py").write_text(FLOOR.format(delay=delay), encoding="utf-8")
    config = json.loads((REPOSITORY / "langgraph.json").read_text("utf-8"))
    config |= {"env": {}, "dependencies": [str(REPOSITORY)]}
    config["graphs"]["floor"] = "./floor.py:graph"
    (folder / "langgraph.json").write_text(json.dumps(config), encoding="utf-8")
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


async def load(url: str, clients: int, seconds: float, graph: str, context: Any = None) -> list[Asked]:
    """All questions that ``clients`` clients asked ``graph`` within ``seconds``."""
    start = time.perf_counter()
    asked: list[Asked] = []

    async def ask(client: LangGraphClient, number: int) -> None:
        count = 0
        while (began := time.perf_counter() - start) < seconds:
            count += 1
            payload = {"messages": [{"role": "human", "content": f"How is case {number}.{count} handled?"}]}
            error = ""
            try:
                state = await client.runs.wait(None, graph, input=payload, context=context)
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


def report(name: str, asked: list[Asked], limit: float) -> None:
    good = sorted(question.seconds for question in asked if not question.error)
    errors = [question.error for question in asked if question.error]
    rate = len(good) / max(question.began + question.seconds for question in asked)
    p50, p99 = statistics.median(good), good[int(0.99 * (len(good) - 1))]
    print(f"| {name} | {len(good)} | {len(errors)} | {rate:.1f} | {rate / limit:.0%} | {p50:.2f} | {p99:.2f} |")
    if errors:
        print(f"\nsuch as {errors[0]}")


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
            serving(chat_endpoint(options.delay)) as chat,
            dev_server(home, options.clients, chat, options.delay) as (url, process),
        ):
            context = {"strategy": options.strategy, "max_correction_rounds": 0}
            asyncio.run(load(url, options.clients, WARM_UP_S, "query", context))
            floor = asyncio.run(load(url, options.clients, options.seconds / 3, "floor"))
            before = resident_mib(process)
            asked = asyncio.run(load(url, options.clients, options.seconds, "query", context))
            after = resident_mib(process)
    limit = options.clients / options.delay
    print(
        f"{options.clients} clients, an endpoint that takes {options.delay} s: at most {limit:.0f} answers a second\n"
    )
    print("| graph | answers | errors | answers a second | of the limit | p50 s | p99 s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    report("one node that waits", floor, limit)
    report(f"query, {options.strategy}", asked, limit)
    print(f"\nmemory of the server: {before:.0f} MiB after the warm-up, {after:.0f} MiB at the end")


if __name__ == "__main__":
    main()
