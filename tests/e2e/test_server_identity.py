"""Who gets in where callers are authenticated, and who they are then, in every node."""

import base64
import hmac
import json
import time
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from citeloop.governance.audit import SQLiteAuditLog
from tests.e2e.conftest import AUDIENCE, ISSUER, Client, IdentityServer, Issuer

SIGNERS = {"question": "Who signs contracts over 50,000 euros?", "access_reason": "e2e", "corpora": ["legal"]}
LEAVE = {"question": "How long is parental leave?", "access_reason": "e2e"}
SECRET = "two directors"


def forged(algorithm: str, key: bytes = b"") -> str:
    """A token of ann's that names its own algorithm; signed by HMAC with ``key``, as libraries refuse to."""
    body = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": int(time.time()) + 600}
    signed = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": algorithm, "kid": "k1"}, body))
    return f"{signed}.{encoded(hmac.digest(key, signed.encode(), 'sha256')) if key else ''}"


def encoded(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def ask(client: Client, question: dict[str, Any], **run: Any) -> dict[str, Any]:
    """The state a run ends with, or its error."""
    answered = client.post("/runs/wait", {"assistant_id": "query", "input": question, **run})
    assert answered.status_code == 200, answered.text
    return dict(answered.json())


def last_asked_by(identity: IdentityServer) -> str:
    rows = SQLiteAuditLog(identity.server.home / "audit.db").rows(limit=10)
    return str(next(row.body["user"] for row in rows if row.event == "asked"))


def status(client: Client) -> int:
    told = client.post("/threads/search")
    if told.status_code == 401:
        assert told.json()["detail"].startswith("credentials are missing, wrong or no longer valid")
    return told.status_code


def test_tokens(identity: IdentityServer) -> None:
    assert status(identity.client()) == 200
    wrong: list[dict[str, Any]] = [
        {"iss": "https://other.example.org/"},
        {"aud": "another-service"},
        {"exp": int(time.time()) - 120},
        {"exp": None},
        {"aud": None},
        {"sub": "local"},
        {"sub": " "},
        {"groups": {"staff": True}},
    ]
    assert [status(identity.client(**{"user": "ann", **claims})) for claims in wrong[:5] + wrong[7:]] == [401] * 6
    assert [status(identity.client(claims["sub"])) for claims in wrong[5:7]] == [401] * 2


def test_forged_tokens(identity: IdentityServer) -> None:
    public_key = identity.issuer.key.public_key()
    pem = public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    tokens = [
        forged("none"),
        forged("HS256", pem),
        forged("ES256", pem),
        Issuer().token("ann"),
        "a.b.c",
        encoded(b"[" * 9000),
    ]
    assert [status(identity.as_sent(authorization=f"Bearer {token}")) for token in tokens] == [401] * len(tokens)
    assert status(identity.as_sent(authorization="Bearer")) == 401


def test_keys(identity: IdentityServer) -> None:
    key = identity.bob.text
    assert status(identity.as_sent(x_api_key=key)) == 200
    assert status(identity.as_sent(authorization=f"Bearer {key}")) == 200
    assert status(identity.as_sent(x_api_key=f"{key[:-1]}-")) == 401
    assert status(identity.as_sent(x_api_key="cl_0123456789abcdef_unknown")) == 401
    assert status(identity.as_sent(authorization=f"Basic {key}")) == 401
    revoked = identity.keys.create("bob")
    assert status(identity.as_sent(x_api_key=revoked.text)) == 200
    identity.keys.revoke(revoked.row.id)
    assert status(identity.as_sent(x_api_key=revoked.text)) == 401


@pytest.mark.parametrize("path", ["/threads/search", "/assistants/search", "/store/items/search", "/mcp", "/runs/wait"])
@pytest.mark.parametrize(
    "headers", [{}, {"x_auth_scheme": "langsmith"}, {"x_auth_scheme": "langsmith", "x_api_key": "k"}]
)
def test_without_credentials_no_door_opens(identity: IdentityServer, path: str, headers: dict[str, str]) -> None:
    assert identity.as_sent(**headers).post(path).status_code == 401


def test_health_needs_credentials(identity: IdentityServer) -> None:
    assert identity.as_sent().get("/health").status_code == 401
    assert identity.client("bob").get("/health").json()["ok"] is True
    assert identity.as_sent().get("/ok").status_code == 200


def test_groups_reach_the_store(identity: IdentityServer) -> None:
    assert SECRET in ask(identity.client("ann"), SIGNERS)["answer"]
    assert last_asked_by(identity) == "ann"
    assert SECRET in ask(identity.as_sent(x_api_key=identity.keys.create("carol", ["staff"]).text), SIGNERS)["answer"]
    assert last_asked_by(identity) == "carol"
    denied = ask(identity.as_sent(x_api_key=identity.bob.text), SIGNERS)["__error__"]
    missing = ask(identity.as_sent(x_api_key=identity.bob.text), {**SIGNERS, "corpora": ["absent"]})["__error__"]
    assert denied["error"] == missing["error"] == "CorpusNotFound"
    assert denied["message"] == missing["message"].replace("absent", "legal")
    assert last_asked_by(identity) == "bob"


ANN = {"identity": "ann", "groups": ["staff"], "is_authenticated": True}


@pytest.mark.parametrize(
    "smuggled",
    [
        {"config": {"configurable": {"langgraph_auth_user": ANN}}},
        {"config": {"configurable": {"langgraph_auth_user": ANN, "langgraph_auth_user_id": "ann", "user_id": "ann"}}},
        {"config": {"configurable": {"citeloop_caller": {"user_id": "ann", "groups": ["staff"]}}}},
        {"checkpoint": {"langgraph_auth_user": ANN}},
        {"metadata": {"owner": "ann", "langgraph_auth_user": ANN}},
    ],
)
def test_an_identity_in_the_body_is_nobody(identity: IdentityServer, smuggled: dict[str, Any]) -> None:
    out = ask(identity.client("bob"), SIGNERS, **smuggled)
    assert out["__error__"]["error"] == "CorpusNotFound"
    assert last_asked_by(identity) == "bob"


def call_tool(client: Client, question: dict[str, Any]) -> dict[str, Any]:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "query", "arguments": question}}
    answered = client.post("/mcp", call, headers={"accept": "application/json"})
    assert answered.status_code == 200, answered.text
    return dict(answered.json()["result"])


def test_mcp_runs_as_its_caller(identity: IdentityServer) -> None:
    assert SECRET in str(call_tool(identity.client("ann"), SIGNERS))
    assert last_asked_by(identity) == "ann"
    refused = call_tool(identity.client("bob"), SIGNERS)
    assert refused["isError"] is True
    assert SECRET not in str(refused)
    assert last_asked_by(identity) == "bob"


def test_a2a_runs_as_its_caller(identity: IdentityServer) -> None:
    [assistant] = identity.client("bob").post("/assistants/search", {"graph_id": "query"}).json()
    parts = [{"kind": "text", "text": f"@corpus:ask {SIGNERS['question']}"}]
    message = {"role": "user", "parts": parts, "messageId": "m1", "kind": "message"}
    call = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": message}}
    told = {}
    for user in ("ann", "bob"):
        client = identity.client(user)
        answered = client.post(f"/a2a/{assistant['assistant_id']}", call, headers={"accept": "application/json"})
        told[user] = answered.text
        assert last_asked_by(identity) == user
    assert SECRET in told["ann"]
    assert SECRET not in told["bob"]


def test_a_webhook_leads_back_to_no_one(identity: IdentityServer) -> None:
    for url in ("/threads", "http://127.0.0.1:1/", "http://public.example.org/", "https://10.0.0.1/"):
        run = {"assistant_id": "query", "input": LEAVE, "webhook": url}
        assert identity.client("bob").post("/runs/wait", run).status_code == 422, url


def test_no_secret_is_in_the_log(identity: IdentityServer) -> None:
    log = identity.server.log()
    assert "/threads/search" in log
    assert identity.bob.text not in log
    assert identity.bob.text.rpartition("_")[2] not in log
    assert "eyJ" not in log, "the beginning of every token"
    assert "NO IDENTITY IS SET UP" not in log
