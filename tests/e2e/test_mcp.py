"""The server's MCP endpoint, used by the protocol's own client: what a tool looks like, and what it answers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.conftest import IdentityServer
from tests.e2e.dev_server import DevServer

ASKED = {"question": "How long is parental leave?", "access_reason": "mcp"}


@asynccontextmanager
async def mcp_client(url: str, **headers: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


TOOLS = ("query", "rag_fusion", "sub_questions", "step_back")


async def test_each_tool_says_what_it_does_and_what_it_takes(local_server: DevServer) -> None:
    async with mcp_client(local_server.url) as client:
        tools = (await client.list_tools()).tools
    assert sorted(tool.name for tool in tools) == sorted(TOOLS)
    for tool in tools:
        assert "cites the passage" in str(tool.description)
        properties = tool.input_schema["properties"]
        assert {"question", "access_reason", "corpora", "command"} <= properties.keys()
        assert all(field.get("description") for field in properties.values())


@pytest.mark.parametrize("name", TOOLS)
async def test_a_tool_answers_with_citations(local_server: DevServer, name: str) -> None:
    async with mcp_client(local_server.url) as client:
        result = await client.call_tool(name, ASKED)
    told = result.content[0].text  # type: ignore[union-attr]
    assert not result.is_error
    assert "16 weeks" in told
    assert "leave.md" in told


async def test_a_mistake_is_told_in_the_result(local_server: DevServer) -> None:
    async with mcp_client(local_server.url) as client:
        result = await client.call_tool("query", {"question": "How long is parental leave?", "corpora": ["absent"]})
    assert result.is_error


async def test_a_tool_runs_as_its_caller(identity: IdentityServer) -> None:
    contracts = {"question": "Who signs contracts over 50,000 euros?", "access_reason": "mcp"}
    answers = {}
    for user in ("ann", "bob"):
        async with mcp_client(identity.server.url, **identity.client(user).headers) as client:
            answers[user] = (await client.call_tool("query", contracts)).content[0].text  # type: ignore[union-attr]
    assert "two directors" in answers["ann"]
    assert "two directors" not in answers["bob"]
