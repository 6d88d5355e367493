"""What LangSmith is told, seen by a server on loopback; and that without its variables nobody is told anything."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.langsmith_stub import LangSmithStub, Run
from tests.openai_stub import OpenAIStub, StubReply

REPOSITORY = Path(__file__).parents[2]
SECRET, PASSWORD = "sk-never-in-a-trace", "pw-never-in-a-trace"
REASON = "ticket 4711"
WRITERS, FACES = ("extractive", "endpoint"), ("invoke", "ainvoke", "stream")

ASK_EVERY_WAY = """
import asyncio, json, sys
from langchain_core.tracers.langchain import wait_for_all_tracers
from citeloop import open_engine
from citeloop.settings import Settings

home, endpoint, asked = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
writers = {"extractive": Settings(openai_api_key=None), "endpoint": Settings(openai_base_url=endpoint)}
for name, settings in writers.items():
    graph = open_engine(home, settings=settings).graph
    graph.invoke(asked, {"tags": [name, "invoke"]})
    asyncio.run(graph.ainvoke(asked, {"tags": [name, "ainvoke"]}))
    steps = list(graph.stream(asked, {"tags": [name, "stream"]}, stream_mode="updates"))
print(json.dumps([node for step in steps for node in step]))
wait_for_all_tracers()
"""

ASK_UNDER_GUARD = """
import asyncio, json, sys
attempts = []
WATCHED = {"connect", "getaddrinfo", "gethostbyname", "sendto", "sendmsg"}

def watch(event, arguments):
    kind, _, name = event.partition(".")
    if kind == "socket" and name in WATCHED:
        attempts.append(f"{event} {arguments[1:]}")

sys.addaudithook(watch)  # of the interpreter itself: no library can patch it away
from langchain_core.tracers.langchain import wait_for_all_tracers
from citeloop import open_engine

engine, asked = open_engine(sys.argv[1]), json.loads(sys.argv[2])
answers = [engine.graph.invoke(asked)["answer"], asyncio.run(engine.graph.ainvoke(asked))["answer"]]
list(engine.graph.stream(asked))
wait_for_all_tracers()
engine.close()
print(json.dumps([answers, attempts]))
"""

ASKED = json.dumps({"question": "How long is parental leave?", "access_reason": REASON})


def run_script(script: str, *arguments: str, home: Path, warns: str = "", **variables: str) -> str:
    """The last line that the script prints, in a process with no variables but these, which warns of nothing else."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(REPOSITORY), **variables}
    command = [sys.executable, "-W", "error", "-c", script, str(home), *arguments]
    done = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == warns
    return done.stdout.splitlines()[-1]


class Traced:
    """Six traces, by the tags of their roots, and the nodes of one run as the stream tells them."""

    def __init__(self, stub: LangSmithStub, nodes: list[str]) -> None:
        self.bodies, self.nodes = stub.bodies, nodes
        self.trees = {frozenset(root["tags"]): (root, below) for root, below in stub.trees()}


@pytest.fixture(scope="module")
def traced(indexed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    home = shutil.copytree(indexed_home, tmp_path_factory.mktemp("traced") / "home")
    with LangSmithStub() as langsmith, OpenAIStub() as openai:
        openai.reply_with(StubReply("Parental leave lasts 16 weeks at full pay. [1]"))
        endpoint = openai.base_url.replace("//", f"//user:{PASSWORD}@")
        variables = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": langsmith.url, "LANGSMITH_API_KEY": "dummy"}
        told = run_script(ASK_EVERY_WAY, endpoint, ASKED, home=home, OPENAI_API_KEY=SECRET, **variables)
        assert [request.authorization.split()[0] for request in openai.requests] == ["Basic"] * len(FACES)
    yield Traced(langsmith, json.loads(told))


@pytest.fixture(params=[(writer, face) for writer in WRITERS for face in FACES], ids="-".join)
def tree(request: pytest.FixtureRequest, traced: Traced) -> tuple[Run, list[Run]]:
    """One trace: its root, and the runs below it in order."""
    return traced.trees[frozenset(request.param)]


def metadata(run: Run) -> dict[str, object]:
    return run["extra"]["metadata"]


def test_a_question_is_one_trace(traced: Traced) -> None:
    assert len(traced.trees) == len(WRITERS) * len(FACES)
    assert {root["name"] for root, _ in traced.trees.values()} == {"query"}


def test_every_node_is_one_run_below_the_root(tree: tuple[Run, list[Run]], traced: Traced) -> None:
    root, below = tree
    steps = [run["name"] for run in below if run["parent_run_id"] == root["id"]]
    assert Counter(steps) == Counter(traced.nodes)
    assert steps.count("search_corpus") == 2, "one a corpus"
    repeated = {name for name, count in Counter(run["name"] for run in below).items() if count > 1}
    assert repeated == {"search_corpus"}, "neither a node nor a router is there twice"


def test_what_is_no_step_stands_below_its_step(tree: tuple[Run, list[Run]]) -> None:
    root, below = tree
    name_of = {run["id"]: run["name"] for run in [root, *below]}
    parents = {run["name"]: name_of[run["parent_run_id"]] for run in below}
    assert parents["draft"] == "generate_answer"
    assert parents["fan_out_searches"] == "plan_searches"
    routers = [name for name in parents if name.startswith("route_after_")]
    assert routers
    assert all(parents[name] == name.removeprefix("route_after_") for name in routers)


def test_the_model_call_says_what_it_was_for(tree: tuple[Run, list[Run]]) -> None:
    [call] = [run for run in tree[1] if run["run_type"] == "llm"]
    assert call["name"] == "draft"
    assert "citeloop:draft" in call["tags"]
    told = {key: metadata(call).get(key) for key in ("prompt", "round", "strategy")}
    assert told == {"prompt": "grounded_question", "round": 0, "strategy": "simple"}


def test_the_root_can_be_filtered_by_what_was_asked_for(tree: tuple[Run, list[Run]]) -> None:
    told = {key: metadata(tree[0]).get(key) for key in ("strategy_asked", "command", "corpora_asked")}
    assert told == {"strategy_asked": "auto", "command": "query", "corpora_asked": 0}


def test_metadata_holds_no_reason_and_no_question(tree: tuple[Run, list[Run]]) -> None:
    root, below = tree
    told = json.dumps([metadata(run) for run in [root, *below]])
    assert REASON not in told
    assert "parental" not in told


def test_no_run_holds_a_key_or_a_password(traced: Traced) -> None:
    posted = b"".join(traced.bodies)
    assert b"16 weeks" in posted
    for secret in (SECRET, PASSWORD, "dummy"):
        assert secret.encode() not in posted


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"LANGSMITH_API_KEY": "dummy"},
        {"LANGSMITH_API_KEY": "dummy", "LANGSMITH_TRACING": "false"},
    ],
    ids=["nothing set", "a key alone", "switched off"],
)
def test_nothing_leaves_the_machine_nor_reaches_loopback(stores: Path, variables: dict[str, str]) -> None:
    answers, attempts = json.loads(run_script(ASK_UNDER_GUARD, ASKED, home=stores, **variables))
    assert all("16 weeks" in answer for answer in answers)
    assert attempts == []


@pytest.mark.parametrize("switch", ["LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"])
def test_tracing_without_a_key_is_switched_off_and_said(stores: Path, switch: str) -> None:
    warning = "LANGSMITH_TRACING is on, but there is no LANGSMITH_API_KEY: nothing is traced"
    told = run_script(ASK_UNDER_GUARD, ASKED, home=stores, warns=warning, **{switch: "true"})
    assert json.loads(told)[1] == []


def test_the_guard_sees_a_trace_leave(stores: Path) -> None:
    with LangSmithStub() as langsmith:
        variables = {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": langsmith.url, "LANGSMITH_API_KEY": "dummy"}
        _, attempts = json.loads(run_script(ASK_UNDER_GUARD, ASKED, home=stores, **variables))
    assert any("127.0.0.1" in attempt for attempt in attempts)
