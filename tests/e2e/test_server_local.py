"""Nothing set up: the local user, from this machine, and from no web page but Studio's."""

from pathlib import Path

import httpx
import pytest

from tests.e2e.dev_server import DevServer, start_dev_server


def search(server: DevServer, **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(f"{server.url}/threads/search", json={}, headers=named, trust_env=False)


def test_it_says_loudly_that_it_is_open(local_server: DevServer) -> None:
    assert "NO IDENTITY IS SET UP" in local_server.log()


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "localhost:2024"},
        {"host": "[::1]:2024"},
        {"origin": "https://smith.langchain.com", "x_auth_scheme": "langsmith"},
        {"origin": "http://localhost:3000"},
        {"x_api_key": "lsv2_pt_of_another_service"},
    ],
)
def test_this_machine_is_served(local_server: DevServer, headers: dict[str, str]) -> None:
    assert search(local_server, **headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "rebound.example.org"},
        {"host": "127.0.0.1.example.org:2024"},
        {"x_forwarded_for": "127.0.0.1"},
        {"x_forwarded_for": "203.0.113.9"},
        {"forwarded": "for=127.0.0.1"},
        {"origin": "https://page.example.org"},
        {"origin": "null"},
        {"origin": "https://smith.langchain.com.example.org"},
        {"host": "rebound.example.org", "x_auth_scheme": "langsmith"},
    ],
)
def test_others_are_told_how_to_set_identity_up(local_server: DevServer, headers: dict[str, str]) -> None:
    refused = search(local_server, **headers)
    assert refused.status_code == 403
    assert "citeloop keys create" in refused.json()["detail"]


def test_a_form_of_a_foreign_page_starts_no_run(local_server: DevServer) -> None:
    headers = {"origin": "https://page.example.org", "content-type": "text/plain"}
    body = '{"assistant_id": "query", "input": {"question": "?", "access_reason": "x"}}'
    assert httpx.post(f"{local_server.url}/runs", content=body, headers=headers, trust_env=False).status_code == 403


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://smith.langchain.com", True),
        ("https://eu.smith.langchain.com", True),
        ("http://localhost:3000", True),
        ("http://127.0.0.1", True),
        ("https://page.example.org", False),
        ("http://localhost.example.org", False),
    ],
)
def test_only_studio_and_local_pages_may_read(local_server: DevServer, origin: str, allowed: bool) -> None:
    headers = {"origin": origin, "access-control-request-method": "POST"}
    told = httpx.options(f"{local_server.url}/threads/search", headers=headers, trust_env=False)
    assert (told.headers.get("access-control-allow-origin") == origin) is allowed


def test_health(local_server: DevServer) -> None:
    told = httpx.get(f"{local_server.url}/health", timeout=60, trust_env=False)
    assert told.status_code == 200
    assert told.json()["writer"] == "extractive"
    assert set(told.json()["parts"]) == {"store", "audit", "embedder", "vector_index", "lexical_index"}
    assert all(part["ok"] and part["ms"] >= 0 for part in told.json()["parts"].values())
    assert str(local_server.home) not in told.text


def test_half_an_identity_is_no_server(tmp_path: Path) -> None:
    process = start_dev_server(
        tmp_path / "home", tmp_path, ["--port", "0"], CITELOOP_JWT_ISSUER="https://a.example.org"
    )
    assert process.wait(timeout=120) != 0
    told = (tmp_path / "log").read_text("utf-8", errors="replace")
    assert "signed tokens are half set up; set CITELOOP_JWT_AUDIENCE and CITELOOP_JWT_KEY_SET as well" in told
