"""What a request shows, and what a server takes it for."""

import time
from pathlib import Path

import jwt
import pytest

from citeloop.errors import CredentialsRefused, InvalidRequest, StoreError
from citeloop.governance.api_keys import ApiKeys
from citeloop.governance.credentials import Credentials, steps_are_exposed
from citeloop.governance.identity import caller_of
from citeloop.settings import Settings

SECRET = "s" * 32
TOKENS = {"jwt_issuer": "https://login.example.org/", "jwt_audience": "citeloop", "jwt_secret": SECRET}


def token(user: str) -> str:
    body = {"iss": TOKENS["jwt_issuer"], "aud": TOKENS["jwt_audience"], "sub": user, "exp": time.time() + 60}
    return jwt.encode(body, SECRET, "HS256")


def settings(home: Path, **more: object) -> Settings:
    return Settings(home=home, **more)


def required(home: Path, **more: object) -> bool:
    return Credentials(settings(home, **more)).required()


def exposed(home: Path, **more: object) -> bool:
    return steps_are_exposed(settings(home, **more), Credentials(settings(home, **more)))


def test_nothing_set_up_asks_for_nothing_until_the_first_key(home: Path) -> None:
    assert not required(home)
    assert required(home, **TOKENS)
    key = ApiKeys(home).create("ann")
    assert required(home)
    ApiKeys(home).revoke(key.row.id)
    assert required(home), "revoking the last key must not open the server"


def test_a_list_of_keys_that_cannot_be_read_opens_nothing(home: Path) -> None:
    home.mkdir()
    (home / "keys.db").write_bytes(b"?" * 4096)
    with pytest.raises(StoreError):
        required(home)


def test_steps_are_shown_where_callers_are_not_authenticated_unless_settings_say_otherwise(home: Path) -> None:
    assert exposed(home)
    assert not exposed(home, **TOKENS)
    assert exposed(home, expose_steps=True, **TOKENS)
    assert not exposed(home, expose_steps=False)


def test_which_header_speaks(home: Path) -> None:
    key = ApiKeys(home).create("kim").text
    check = Credentials(settings(home, **TOKENS)).caller
    assert check({"authorization": f"Bearer {token('tom')}"}).user_id == "tom"
    assert check({"authorization": f"bearer  {token('tom')} "}).user_id == "tom"
    assert check({"authorization": f"Bearer {key}"}).user_id == "kim"
    assert check({"x-api-key": key}).user_id == "kim"
    assert check({"authorization": f"Bearer {token('tom')}", "x-api-key": key}).user_id == "tom"
    assert check({"authorization": f"Bearer {token('tom')}", "x-api-key": "lsv2_foreign"}).user_id == "tom"


def test_what_is_refused(home: Path) -> None:
    key = ApiKeys(home).create("kim").text
    check = Credentials(settings(home, **TOKENS)).caller
    refused: list[dict[str, str]] = [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer x", "x-api-key": key},
        {"authorization": f"Basic {key}"},
        {"authorization": key},
        {"x-api-key": token("tom")},
        {"x-api-key": "lsv2_foreign"},
        {"cookie": f"x-api-key={key}"},
    ]
    for headers in refused:
        with pytest.raises(CredentialsRefused):
            check(headers)
    with pytest.raises(CredentialsRefused):
        Credentials(settings(home)).caller({"authorization": f"Bearer {token('tom')}"})


def test_a_run_without_a_user_id_is_nobodys() -> None:
    with pytest.raises(InvalidRequest, match="belongs to no user"):
        caller_of({"configurable": {"langgraph_auth_user": {"identity": ""}}})
