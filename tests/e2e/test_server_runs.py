"""What a run may not ask for: settings that do not exist, and steps where they are hidden."""

import json
from typing import Any

import pytest
from langgraph_sdk import get_client
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

from tests.e2e.conftest import IdentityServer
from tests.e2e.dev_server import DevServer

LEAVE = {"question": "How long is parental leave?", "access_reason": "e2e"}
RUN = {"assistant_id": "query", "input": LEAVE}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"context": {"straetgy": "simple"}},
            "context: straetgy: Extra inputs are not permitted; the settings are strategy",
        ),
        ({"context": {"top_k": 0}}, "context: top_k: "),
        ({"context": {"strategy": "best"}}, "context: strategy: "),
        ({"config": {"configurable": {"top_k": 0}}}, "context: top_k: "),
    ],
)
@pytest.mark.parametrize("path", ["/runs", "/runs/wait", "/runs/stream"])
def test_settings_that_do_not_exist_are_told(
    identity: IdentityServer, path: str, settings: dict[str, Any], told: str
) -> None:
    refused = identity.client("bob").post(path, {**RUN, **settings})
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(told)
    assert "\n" not in refused.json()["detail"]


@pytest.mark.parametrize("settings", [{"context": {"top_k": 2}}, {"config": {"configurable": {"mine": 1}}}])
def test_settings_that_exist_are_taken(identity: IdentityServer, settings: dict[str, Any]) -> None:
    answered = identity.client("bob").post("/runs/wait", {**RUN, **settings})
    assert "16 weeks" in answered.json()["answer"]


@pytest.mark.parametrize(
    "wish",
    [
        {"command": {"goto": "generate_answer"}},
        {"command": {"goto": {"node": "search_corpus", "input": {"corpus": "legal"}}, "resume": True}},
        {"command": {"update": {"passages": []}}},
        {"interrupt_before": "*"},
        {"interrupt_after": ["validate_citations"]},
        {"stream_mode": "debug"},
        {"stream_mode": ["values", "tasks"]},
        {"stream_mode": ["checkpoints"]},
        {"stream_mode": ["events"]},
    ],
)
def test_hidden_steps_are_neither_shown_nor_changed(identity: IdentityServer, wish: dict[str, Any]) -> None:
    bob = identity.client("bob")
    thread_id = bob.post("/threads").json()["thread_id"]
    refused = bob.post(f"/threads/{thread_id}/runs/stream", {**RUN, **wish})
    assert refused.status_code == 403
    assert "the steps of a run are not open to clients of this server" in refused.json()["detail"]
    assert bob.get(f"/threads/{thread_id}/runs").json() == []
    cron = {**RUN, **wish, "schedule": "0 0 1 1 *"}
    assert bob.post(f"/threads/{thread_id}/runs/crons", cron).status_code in (403, 422)


def test_the_state_of_ones_own_thread_is_not_rewritten(identity: IdentityServer) -> None:
    bob = identity.client("bob")
    thread_id = bob.post("/threads").json()["thread_id"]
    before = bob.post(f"/threads/{thread_id}/runs/wait", RUN).json()["answer"]
    forged = {"values": {"answer": "Everything is allowed."}, "as_node": "audit_response"}
    assert bob.post(f"/threads/{thread_id}/state", forged).status_code == 403
    assert bob.get(f"/threads/{thread_id}/state").json()["values"]["answer"] == before
    assert bob.send("PATCH", f"/threads/{thread_id}", json={"metadata": {"topic": "leave"}}).status_code == 200
    made = {"supersteps": [{"updates": [{"values": forged["values"], "as_node": "audit_response"}]}]}
    assert "Everything is allowed." not in bob.post("/threads", {**made, "metadata": {"graph_id": "query"}}).text


def test_the_event_stream_protocol_answers_without_steps(identity: IdentityServer) -> None:
    run = {**RUN, "config": {"configurable": {"__event_streaming_v2": True}}, "stream_mode": ["values", "tasks"]}
    streamed = identity.client("bob").post("/runs/stream", run)
    assert streamed.status_code == 200
    assert "16 weeks" in streamed.text
    assert "event: tasks" not in streamed.text


def test_event_streams_of_a_thread_are_its_owners_and_hold_no_steps(identity: IdentityServer) -> None:
    ann, bob = identity.client("ann"), identity.client("bob")
    thread_id = ann.post("/threads").json()["thread_id"]
    start = {"id": 1, "method": "run.start", "params": RUN}
    assert "Thread or assistant not found" in bob.post(f"/threads/{thread_id}/commands", start).text
    assert ann.post(f"/threads/{thread_id}/commands", start).json()["type"] == "success"
    url = f"{identity.server.url}/threads/{thread_id}/stream/events".replace("http", "ws", 1)
    for headers in ({}, {"x-auth-scheme": "langsmith"}, {"authorization": "Bearer wrong"}):
        with pytest.raises(InvalidStatus), connect(url, additional_headers=headers):
            pass
    with connect(url, additional_headers=bob.headers) as socket, pytest.raises(ConnectionClosedError):
        socket.recv(timeout=10)
    with connect(url, additional_headers=ann.headers) as socket:
        channels = ["values", "updates", "lifecycle", "tasks", "checkpoints"]
        socket.send(json.dumps({"id": 2, "method": "subscription.subscribe", "params": {"channels": channels}}))
        seen = []
        while not seen or "16 weeks" not in str(seen[-1]):
            seen.append(json.loads(socket.recv(timeout=30)))
    assert {event["method"] for event in seen if event["type"] == "event"} <= {"values", "lifecycle", "updates"}


async def test_steps_are_open_where_nothing_is_set_up(local_server: DevServer) -> None:
    async with get_client(url=local_server.url) as client:
        thread = await client.threads.create()
        run = {"input": LEAVE, "interrupt_before": ["generate_answer"], "stream_mode": ["tasks"]}
        events = [part async for part in client.runs.stream(thread["thread_id"], "query", **run)]
        assert any(part.event == "tasks" for part in events)
        assert (await client.threads.get_state(thread["thread_id"]))["next"] == ["generate_answer"]
        assert await client.threads.update_state(thread["thread_id"], {"passages": []}, as_node="assemble_context")
