"""The door of the server fails closed, and asks for credentials from the first key on."""

import logging
from pathlib import Path

import pytest

from citeloop.errors import CredentialsRefused, IdentityNotSetUp, StoreError
from citeloop.governance.api_keys import ApiKeys
from citeloop.governance.credentials import Credentials
from citeloop.server.admission import Admission
from citeloop.settings import Settings
from citeloop.state.models import UserContext

HERE = {"host": "127.0.0.1:2024"}


@pytest.fixture
def door(home: Path) -> Admission:
    return Admission(Settings(home=home))


async def test_the_local_user_until_there_is_a_key(door: Admission, home: Path) -> None:
    assert await door.caller("127.0.0.1", HERE) == UserContext()
    assert await door.steps_are_exposed()
    with pytest.raises(IdentityNotSetUp, match="citeloop keys create"):
        await door.caller("203.0.113.9", HERE)
    key = ApiKeys(home).create("ann", ["staff"])
    with pytest.raises(CredentialsRefused):
        await door.caller("127.0.0.1", HERE)
    assert not await door.steps_are_exposed()
    assert (await door.caller("203.0.113.9", {"x-api-key": key.text})).groups == ("staff",)
    (home / "keys.db").unlink()
    with pytest.raises(CredentialsRefused):
        await door.caller("127.0.0.1", HERE)


async def test_it_says_that_it_is_open_and_only_then(
    door: Admission, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await door.announce()
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    ApiKeys(home).create("ann")
    caplog.clear()
    await door.announce()
    assert caplog.records == []


@pytest.mark.parametrize("error", [RuntimeError("/secret/path"), OSError(), RecursionError(), ValueError()])
async def test_whatever_goes_wrong_is_a_refusal(
    door: Admission, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def fail(_: Credentials) -> bool:
        raise error

    monkeypatch.setattr(Credentials, "required", fail)
    with pytest.raises(CredentialsRefused):
        await door.caller("127.0.0.1", HERE)
    assert type(error).__name__ in caplog.text
    assert "/secret/path" not in caplog.text


@pytest.fixture
def unreadable_keys(home: Path) -> None:
    home.mkdir()
    (home / "keys.db").write_bytes(b"?" * 4096)


@pytest.mark.usefixtures("unreadable_keys")
async def test_keys_that_cannot_be_read_open_nothing(door: Admission) -> None:
    with pytest.raises(CredentialsRefused):
        await door.caller("127.0.0.1", HERE)
    with pytest.raises(StoreError):
        await door.announce()
