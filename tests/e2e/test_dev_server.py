"""The graph served by a real ``langgraph dev``, blocking-call detection on, driven by its SDK client."""

from collections.abc import AsyncIterator

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.e2e.dev_server import DevServer


@pytest.fixture
async def client(local_server: DevServer) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=local_server.url) as client:
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
