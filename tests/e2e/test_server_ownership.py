"""What is whose: another user's thing answers as a missing one. And what a run may not ask for."""

import uuid
from typing import Any

import pytest

from tests.e2e.conftest import Client, IdentityServer

LEAVE = {"question": "How long is parental leave?", "access_reason": "e2e"}
RUN = {"assistant_id": "query", "input": LEAVE}


@pytest.fixture(scope="module")
def anns_thread(identity: IdentityServer) -> tuple[str, str]:
    """The ids of a thread with an answer, and of its run."""
    ann = identity.client("ann")
    thread_id = ann.post("/threads", {"metadata": {"owner": "bob", "topic": "leave"}}).json()["thread_id"]
    assert "16 weeks" in ann.post(f"/threads/{thread_id}/runs/wait", RUN).json()["answer"]
    [run] = ann.get(f"/threads/{thread_id}/runs").json()
    return thread_id, run["run_id"]


def told(client: Client, method: str, path: str, body: object, ids: tuple[str, str]) -> tuple[int, str]:
    """Status and text, ids made alike."""
    answered = client.send(method, path.format(thread=ids[0], run=ids[1]), json=body)
    return answered.status_code, answered.text.replace(ids[0], "THREAD").replace(ids[1], "RUN")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/threads/{thread}", None),
        ("PATCH", "/threads/{thread}", {"metadata": {"topic": "stolen"}}),
        ("DELETE", "/threads/{thread}", None),
        ("POST", "/threads/{thread}/copy", {}),
        ("GET", "/threads/{thread}/state", None),
        ("POST", "/threads/{thread}/state/checkpoint", {"checkpoint": {"checkpoint_ns": ""}}),
        ("GET", "/threads/{thread}/history", None),
        ("POST", "/threads/{thread}/history", {"limit": 10}),
        ("POST", "/threads/{thread}/runs", RUN),
        ("POST", "/threads/{thread}/runs/wait", RUN),
        ("POST", "/threads/{thread}/runs/stream", RUN),
        ("GET", "/threads/{thread}/runs", None),
        ("GET", "/threads/{thread}/runs/{run}", None),
        ("GET", "/threads/{thread}/runs/{run}/join", None),
        ("GET", "/threads/{thread}/runs/{run}/stream", None),
        ("POST", "/threads/{thread}/runs/{run}/cancel", {}),
        ("DELETE", "/threads/{thread}/runs/{run}", None),
        ("GET", "/threads/{thread}/stream", None),
        ("POST", "/threads/prune", {"thread_ids": ["{thread}"]}),
        ("POST", "/threads/{thread}/runs/crons", {**RUN, "schedule": "0 0 1 1 *"}),
    ],
)
def test_anothers_thread_is_a_missing_one(
    identity: IdentityServer, anns_thread: tuple[str, str], method: str, path: str, body: Any
) -> None:
    def attempt(ids: tuple[str, str]) -> tuple[int, str]:
        sent = {"thread_ids": [ids[0]]} if path == "/threads/prune" else body
        return told(identity.client("bob"), method, path, sent, ids)

    found = attempt(anns_thread)
    assert found == attempt((str(uuid.uuid4()), str(uuid.uuid4())))
    assert found[0] in (404, 409, 200)
    assert "16 weeks" not in found[1]


def test_the_owner_has_all_of_it_still(identity: IdentityServer, anns_thread: tuple[str, str]) -> None:
    ann, (thread_id, run_id) = identity.client("ann"), anns_thread
    assert ann.get(f"/threads/{thread_id}").json()["metadata"].items() >= {"owner": "ann", "topic": "leave"}.items()
    assert "16 weeks" in ann.get(f"/threads/{thread_id}/state").text
    assert "16 weeks" in ann.post(f"/threads/{thread_id}/history", {"limit": 10}).text
    assert ann.get(f"/threads/{thread_id}/runs/{run_id}").json()["status"] == "success"


def test_search_and_count_find_ones_own(identity: IdentityServer, anns_thread: tuple[str, str]) -> None:
    def found(user: str, **query: Any) -> list[str]:
        return [thread["thread_id"] for thread in identity.client(user).post("/threads/search", query).json()]

    assert anns_thread[0] in found("ann")
    assert anns_thread[0] not in found("bob", limit=1000)
    assert found("bob", metadata={"owner": "ann"}) == found("bob", ids=[anns_thread[0]]) == []
    assert identity.client("dora").post("/threads/count").json() == 0


def test_ownership_cannot_be_given_away_or_taken(identity: IdentityServer, anns_thread: tuple[str, str]) -> None:
    bob = identity.client("bob")
    for run in ({**RUN, "metadata": {"owner": "ann"}}, {**RUN, "config": {"metadata": {"owner": "ann"}}}):
        thread_id = bob.post("/threads").json()["thread_id"]
        bob.send("PATCH", f"/threads/{thread_id}", json={"metadata": {"owner": "ann"}})
        assert bob.post(f"/threads/{thread_id}/runs/wait", run).status_code == 200
        assert bob.get(f"/threads/{thread_id}").json()["metadata"]["owner"] == "bob"
    made_by_run = str(uuid.uuid4())
    run = {**RUN, "if_not_exists": "create", "metadata": {"owner": "ann"}}
    assert bob.post(f"/threads/{made_by_run}/runs/wait", run).status_code == 200
    assert bob.get(f"/threads/{made_by_run}").json()["metadata"]["owner"] == "bob"
    assert bob.post("/threads", {"thread_id": anns_thread[0], "if_exists": "do_nothing"}).status_code == 409


def test_store_items_are_their_users(identity: IdentityServer) -> None:
    ann, bob = identity.client("ann.b@example.org"), identity.client("bob")
    item = {"namespace": ["notes"], "key": "k", "value": {"text": "hers"}}
    assert ann.send("PUT", "/store/items", json=item).status_code == 204
    assert ann.get("/store/items?namespace=notes&key=k").json()["value"] == {"text": "hers"}
    [label, _] = ann.get("/store/items?namespace=notes&key=k").json()["namespace"]
    assert ann.get(f"/store/items?namespace={label}.notes&key=k").json()["value"] == {"text": "hers"}
    for namespace in ("notes", f"{label}.notes"):
        assert bob.get(f"/store/items?namespace={namespace}&key=k").json() is None
    for prefix in ([], ["notes"], [label], [label, "notes"]):
        assert bob.post("/store/items/search", {"namespace_prefix": prefix}).json()["items"] == []
        namespaces = bob.post("/store/namespaces", {"prefix": prefix}).json()["namespaces"]
        assert {namespace[0] for namespace in namespaces} <= {"bob"}
    bob.send("DELETE", "/store/items", json={"namespace": [label, "notes"], "key": "k"})
    assert len(ann.post("/store/items/search", {"namespace_prefix": []}).json()["items"]) == 1


def test_assistants(identity: IdentityServer) -> None:
    ann, bob = identity.client("ann"), identity.client("bob")
    [system] = bob.post("/assistants/search", {"graph_id": "query"}).json()
    path = f"/assistants/{system['assistant_id']}"
    assert bob.send("PATCH", path, json={"name": "mine now"}).status_code == 404
    assert bob.send("DELETE", path).status_code == 404
    forged = {
        "graph_id": "query",
        "name": "a",
        "metadata": {"created_by": "system", "owner": "bob"},
        "context": {"top_k": 2},
    }
    hers = ann.post("/assistants", forged).json()
    assert hers["metadata"] == {"owner": "ann"}
    assert bob.get(f"/assistants/{hers['assistant_id']}").status_code == 404
    assert hers["assistant_id"] not in {seen["assistant_id"] for seen in bob.post("/assistants/search").json()}
    assert bob.post("/runs/wait", {**RUN, "assistant_id": hers["assistant_id"]}).status_code == 404
    assert ann.post("/runs/wait", {**RUN, "assistant_id": hers["assistant_id"]}).status_code == 200
    bad = {"graph_id": "query", "context": {"straetgy": "simple"}}
    assert ann.post("/assistants", bad).status_code == 422
    assert ann.send("PATCH", f"/assistants/{hers['assistant_id']}", json=bad).status_code == 422


def test_crons(identity: IdentityServer) -> None:
    ann, bob = identity.client("ann"), identity.client("bob")
    smuggled = {"configurable": {"langgraph_auth_user": {"identity": "bob", "groups": ["staff"]}}}
    cron = {**RUN, "schedule": "0 0 1 1 *", "metadata": {"owner": "bob"}, "config": smuggled}
    hers = ann.post("/runs/crons", cron).json()
    assert (hers["metadata"], hers["user_id"]) == ({"owner": "ann"}, "ann")
    assert "langgraph_auth_user" not in str(hers["payload"])
    assert bob.post("/runs/crons/search").json() == []
    assert bob.send("PATCH", f"/runs/crons/{hers['cron_id']}", json={"enabled": False}).status_code == 404
    assert bob.send("DELETE", f"/runs/crons/{hers['cron_id']}").status_code == 404
    bad = {**RUN, "schedule": "0 0 1 1 *", "context": {"straetgy": "simple"}}
    assert ann.post("/runs/crons", bad).status_code == 422
    assert ann.send("DELETE", f"/runs/crons/{hers['cron_id']}").status_code == 204
