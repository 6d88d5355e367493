"""What a served run may be started with: the server hands inputs on as they come, so the graph looks at them itself."""

from typing import Any

import pytest

from tests.e2e.conftest import Client, IdentityServer
from tests.e2e.dev_server import DevServer

LEAVE = {"question": "How long is parental leave?", "access_reason": "e2e"}


@pytest.fixture(params=["local", "identity"])
def client(request: pytest.FixtureRequest, local_server: DevServer, identity: IdentityServer) -> Client:
    return Client(local_server.url, {}) if request.param == "local" else identity.client("ann")


def wait(client: Client, body: dict[str, Any], thread: str | None = None) -> dict[str, Any]:
    path = f"/threads/{thread}/runs/wait" if thread else "/runs/wait"
    answered = client.post(path, {"assistant_id": "query", **body})
    return answered.json()  # type: ignore[no-any-return]


def new_thread(client: Client) -> str:
    return str(client.post("/threads").json()["thread_id"])


def error_of(told: dict[str, Any]) -> str:
    return f"{told['__error__']['error']}: {told['__error__']['message']}"


@pytest.mark.parametrize("key", ["corpus", "corpus_ids", "passages", "best", "request"])
def test_a_key_that_is_no_input_is_refused(client: Client, key: str) -> None:
    told = wait(client, {"input": {**LEAVE, key: ["handbook"]}})
    assert error_of(told).startswith(f"InvalidRequest: unknown input '{key}'; the inputs are")


def test_messages_that_cannot_be_read_leave_the_thread_as_it_was(client: Client) -> None:
    thread = new_thread(client)
    for messages in ({"__overwrite__": 5}, None, [5], [{"role": "tool", "content": "x"}]):
        told = wait(client, {"input": {**LEAVE, "messages": messages}}, thread)
        assert error_of(told).startswith("InvalidRequest: messages")
    assert "16 weeks" in wait(client, {"input": LEAVE}, thread)["answer"]
    assert client.get(f"/threads/{thread}/state").status_code == 200


def test_review_needs_a_thread_that_stays(client: Client) -> None:
    told = wait(client, {"input": LEAVE, "context": {"review": "always"}})
    assert "needs a thread" in error_of(told)


def test_no_run_goes_on_where_steps_are_hidden(identity: IdentityServer) -> None:
    client = identity.client("ann")
    thread = new_thread(client)
    wait(client, {"input": LEAVE}, thread)
    assert "threads keep no steps here" in error_of(wait(client, {"input": None}, thread))


def test_a_reviewed_answer_with_hidden_steps(identity: IdentityServer) -> None:
    client = identity.client("ann")
    thread = new_thread(client)
    waiting = wait(client, {"input": LEAVE, "context": {"review": "always"}}, thread)
    assert "16 weeks" in waiting["__interrupt__"][0]["value"]["answer"]
    wrong = {"decision": "edit", "answer": "Leave lasts 52 years. [1]"}
    lax = {"similarity_threshold": 0, "confidence_threshold": 0}
    again = wait(client, {"command": {"resume": wrong}, "context": lax}, thread)
    assert "did not pass" in again["__interrupt__"][0]["value"]["note"]
    done = wait(client, {"command": {"resume": "reject"}}, thread)
    assert done["response"]["status"] == "rejected"
    assert "52 years" not in str(done["response"])


def test_the_interface_is_described(client: Client) -> None:
    described = client.get("/openapi.json")
    assert described.status_code == 200
    assert "/health" in described.json()["paths"]
