"""The three multi-query graphs served by a real ``langgraph dev``, a stub of a chat endpoint behind it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langgraph_sdk import get_client

from citeloop.governance.audit import SQLiteAuditLog
from tests.e2e.conftest import Client, IdentityServer
from tests.e2e.dev_server import DevServer, dev_server
from tests.multi_query_fakes import prompt_of, reply_by_prompt
from tests.openai_stub import OpenAIStub

PATTERNS = {"rag_fusion": "query_rewriter", "sub_questions": "decomposer", "step_back": "step_back"}
"""Each graph, and the prompt that it begins with."""
each_pattern = pytest.mark.parametrize("name", PATTERNS)

QUESTION = {"question": "How long is parental leave?", "access_reason": "e2e"}
CONTRACTS = {"question": "Who signs contracts over 50,000 euros and how long is notice?", "access_reason": "e2e"}
SECRET = "two directors"


def quote_last_line(prompt: str) -> str:
    """An answer that quotes the last line of the first document, below its headings."""
    found = re.search(r'<document id="(\d+)"[^>]*>\n(.*?)\n</document>', prompt, re.DOTALL)
    assert found is not None, "the endpoint was asked without documents"
    return f"{found[2].splitlines()[-1]} [{found[1]}]"


SCRIPT = {
    "answer": quote_last_line,
    "sub_answer": quote_last_line,
    "query_rewriter": "1. weeks of parental leave\n2. leave for parents\n3. paid leave",
    "decomposer": "How many weeks is parental leave?\nWhat is the limit for hotels a night?",
    "step_back": "What kinds of leave are there?",
}


class Stubbed(NamedTuple):
    """A server whose answers the stub writes."""

    server: DevServer
    chat: OpenAIStub

    def prompts_since(self, seen: int) -> list[str]:
        return sorted(prompt_of(request.last_message) for request in self.chat.requests[seen:])


@pytest.fixture(scope="module")
def stubbed(indexed_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stubbed]:
    folder = tmp_path_factory.mktemp("stubbed-server")
    home = Path(shutil.copytree(indexed_home, folder / "home"))
    with (
        OpenAIStub(answer=reply_by_prompt(**SCRIPT)) as chat,  # type: ignore[arg-type]
        dev_server(home, folder, OPENAI_BASE_URL=chat.base_url) as server,
    ):
        yield Stubbed(server, chat)


CALLS = {
    "rag_fusion": ["answer", "query_rewriter"],
    "sub_questions": ["combiner", "decomposer", "sub_answer", "sub_answer"],
    "step_back": ["answer", "step_back"],
}


@each_pattern
async def test_wait(stubbed: Stubbed, name: str) -> None:
    seen = len(stubbed.chat.requests)
    async with get_client(url=stubbed.server.url) as client:
        state = await client.runs.wait(None, name, input=QUESTION)
    response = state["response"]
    assert stubbed.prompts_since(seen) == CALLS[name]
    assert "16 weeks" in state["answer"]
    assert response["citations"][0]["uri"] == "leave.md"
    assert response["strategy_used"] == name
    ended, asked = SQLiteAuditLog(stubbed.server.home / "audit.db").rows(request_id=response["request_id"])
    assert (asked.event, ended.event, ended.body["outcome"]) == ("asked", "ended", response["status"])


@each_pattern
async def test_stream(stubbed: Stubbed, name: str) -> None:
    async with get_client(url=stubbed.server.url) as client:
        stream = client.runs.stream(None, name, input=QUESTION, stream_mode=["updates", "custom", "messages"])
        parts = [part async for part in stream]
    nodes = [node for part in parts if part.event == "updates" for node in part.data]
    assert (nodes[0], nodes[-1]) == ("admit_question", "return_response")
    progress = [part.data["node"] for part in parts if part.event == "custom"]
    assert set(progress) == set(nodes)
    chats = [part.data for part in parts if part.event in ("messages/partial", "messages/complete")]
    texts = [message["content"] for chat in chats for message in chat if message["type"] == "ai"]
    assert texts
    assert all("16 weeks" in text for text in texts), "neither queries nor drafts are among the messages"


@each_pattern
async def test_settings_are_the_graphs_own(stubbed: Stubbed, name: str) -> None:
    async with get_client(url=stubbed.server.url) as client:
        state = await client.runs.wait(None, name, input=QUESTION, context={"k": 1})
        [assistant] = await client.assistants.search(graph_id=name)
        schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    assert len(state["response"]["sources"]) <= 2
    assert {"k", "search_timeout_s"} <= schemas["context_schema"]["properties"].keys()
    assert all(field.get("description") for field in schemas["input_schema"]["properties"].values())
    here = Client(stubbed.server.url, {})
    for wrong in ({"top_k": 3}, {"k": 0}):
        assert here.post("/runs/wait", {"assistant_id": name, "input": QUESTION, "context": wrong}).status_code == 422
    assert here.post("/assistants", {"graph_id": name, "context": {"top_k": 3}}).status_code == 422
    assert here.post("/assistants", {"graph_id": name, "context": {"k": 2}}).status_code == 200


def ask(client: Client, name: str, question: dict[str, Any]) -> dict[str, Any]:
    answered = client.post("/runs/wait", {"assistant_id": name, "input": question})
    assert answered.status_code == 200, answered.text
    return dict(answered.json())


@each_pattern
def test_a_denied_corpus_is_read_by_no_branch(identity: IdentityServer, name: str) -> None:
    ann, bob = identity.client("ann"), identity.client("bob")
    assert SECRET in ask(ann, name, CONTRACTS)["answer"]
    unread = ask(bob, name, CONTRACTS)
    assert SECRET not in str(unread)
    ranked = [hit["title"] for query in unread["response"]["trace"]["queries"] for hit in query["ranked"]]
    assert ranked
    assert "contracts" not in ranked
    denied = ask(bob, name, {**CONTRACTS, "corpora": ["legal"]})["__error__"]
    missing = ask(bob, name, {**CONTRACTS, "corpora": ["absent"]})["__error__"]
    assert denied["error"] == missing["error"] == "CorpusNotFound"
    assert denied["message"] == missing["message"].replace("absent", "legal")


@each_pattern
def test_both_rows_name_the_caller(identity: IdentityServer, name: str) -> None:
    request_id = ask(identity.client("bob"), name, QUESTION)["response"]["request_id"]
    ended, asked = SQLiteAuditLog(identity.server.home / "audit.db").rows(request_id=request_id)
    assert (asked.body["user"], asked.body["reason"]) == ("bob", "e2e")
    assert (ended.event, ended.body["strategy"]) == ("ended", name)


@each_pattern
def test_a_missing_reason_is_told(identity: IdentityServer, name: str) -> None:
    refused = ask(identity.client("bob"), name, {"question": "How long is parental leave?"})["__error__"]
    assert refused["error"] == "MissingReason"
