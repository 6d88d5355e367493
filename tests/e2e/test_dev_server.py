"""The graph served by a real ``langgraph dev``, blocking-call detection on, driven by its SDK client."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

REPOSITORY = Path(__file__).parents[2]
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")
"""Variables that the server gets of ours: no key and no setting of the developer's is among them."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_up(url: str, server: "subprocess.Popen[bytes]", log: Path, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/ok", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the dev server did not come up:\n{log.read_text(errors='replace')[-3000:]}")


def write_config(folder: Path) -> Path:
    """The repository's own, without the developer's ``.env``."""
    config = json.loads((REPOSITORY / "langgraph.json").read_text("utf-8"))
    path = folder / "langgraph.json"
    path.write_text(json.dumps({**config, "env": {}, "dependencies": [str(REPOSITORY)]}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def server_url(indexed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("server")
    home = shutil.copytree(indexed_home, folder / "home")
    port = free_port()
    program = Path(sys.executable).with_name("langgraph")
    command = [program, "dev", "--no-browser", "--no-reload", "--port", str(port)]
    command += ["--config", str(write_config(folder))]
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    environment |= {"CITELOOP_HOME": str(home), "PYTHONPATH": str(REPOSITORY), "HF_HUB_OFFLINE": "1"}
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            wait_until_up(f"http://127.0.0.1:{port}", server, folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=30)


@pytest.fixture
async def client(server_url: str) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server_url) as client:
        yield client


async def test_a_question_is_answered_by_the_graph_api(client: LangGraphClient) -> None:
    question = {"question": "How long is parental leave?", "access_reason": "e2e"}
    state = await client.runs.wait(None, "query", input=question)
    assert "16 weeks" in state["answer"]
    assert state["response"]["citations"][0]["uri"] == "leave.md"


async def test_run_settings_arrive_as_context_and_progress_is_streamed(client: LangGraphClient) -> None:
    thread = await client.threads.create()
    question = {"question": "What is the limit for hotels a night?", "access_reason": "e2e"}
    stream = client.runs.stream(
        thread["thread_id"], "query", input=question, context={"strategy": "standard"}, stream_mode="updates"
    )
    nodes = [node async for part in stream if part.event == "updates" for node in part.data]
    assert nodes[:3] == ["authorize", "analyze_query", "plan_searches"]
    assert nodes[-1] == "audit_response"
    values = (await client.threads.get_state(thread["thread_id"]))["values"]
    assert values["response"]["strategy_used"] == "standard"
    assert "140 euros" in values["answer"]


async def test_the_form_and_the_input_are_described(client: LangGraphClient) -> None:
    [assistant] = await client.assistants.search(graph_id="query")
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    assert {"strategy", "top_k", "max_correction_rounds"} <= schemas["context_schema"]["properties"].keys()
    assert {"question", "messages", "corpora", "access_reason"} <= schemas["input_schema"]["properties"].keys()
