"""Rules of the server that need no server: whose machine asks, and that ``langgraph.json`` says what the code says."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from citeloop.governance.identity import LOCAL_USER_ID
from citeloop.server.auth import auth
from citeloop.server.loopback import ALLOWED_ORIGINS, LOOPBACK_ORIGIN, is_local

HERE = {"host": "127.0.0.1:2024"}
CONFIG: dict[str, Any] = json.loads((Path(__file__).parents[2] / "langgraph.json").read_text("utf-8"))


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:2024", "LocalHost", "[::1]:2024", "[::1]"])
def test_this_machine(client: str, host: str) -> None:
    assert is_local(client, {"host": host})


@pytest.mark.parametrize(
    "client", [None, "", "testclient", "203.0.113.9", "10.0.0.1", "::ffff:10.0.0.1", "::", "0.0.0.0"]
)
def test_another_machine(client: str | None) -> None:
    assert not is_local(client, HERE)


@pytest.mark.parametrize(
    "host",
    ["", "example.org", "localhost.example.org", "127.0.0.1.example.org:80", "0.0.0.0:2024", "[::]", "2130706433"],
)
def test_another_host_name(host: str) -> None:
    assert not is_local("127.0.0.1", {"host": host})
    assert not is_local("127.0.0.1", {})


@pytest.mark.parametrize("name", ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"])
def test_a_proxy(name: str) -> None:
    assert not is_local("127.0.0.1", {**HERE, name: ""})


@pytest.mark.parametrize(
    ("origin", "local"),
    [
        ("https://smith.langchain.com", True),
        ("http://localhost:5173", True),
        ("https://[::1]", True),
        ("null", False),
        ("", False),
        ("https://example.org", False),
        ("http://smith.langchain.com", False),
        ("https://localhost.example.org", False),
        ("https://example.org#http://localhost", False),
        ("http://localhost:80\n", False),
    ],
)
def test_pages(origin: str, local: bool) -> None:
    assert is_local("127.0.0.1", {**HERE, "origin": origin}) is local


def test_browsers_are_told_the_same() -> None:
    cors = CONFIG["http"]["cors"]
    assert tuple(cors["allow_origins"]) == ALLOWED_ORIGINS
    assert re.compile(cors["allow_origin_regex"]) == re.compile(LOOPBACK_ORIGIN)
    assert "allow_credentials" not in cors


def test_no_door_beside_ours() -> None:
    assert CONFIG["auth"]["disable_studio_auth"] is True
    assert CONFIG["http"]["enable_custom_route_auth"] is True
    assert CONFIG["http"]["configurable_headers"] == {"excludes": ["*"]}
    for path in (CONFIG["auth"]["path"], CONFIG["http"]["app"]):
        module, name = path.split(":")
        assert getattr(import_module(module), name) is not None


def test_what_the_image_builder_writes_into_shell_and_quotes_stays_whole() -> None:
    assert not set("<>|&;$'\"` ") & set("".join(CONFIG["dependencies"]))
    assert "'" not in json.dumps(CONFIG)


async def test_what_no_rule_names_is_refused() -> None:
    [deny] = auth._global_handlers
    assert await deny(ctx=None, value={}) is False
    assert {resource for resource, _ in auth._handlers} == {"threads", "crons", "assistants", "store"}


def test_the_local_user_has_the_name_of_the_command_lines() -> None:
    assert LOCAL_USER_ID == "local"
