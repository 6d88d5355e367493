"""API keys: made once, kept as hashes, worthless when wrong, old or revoked."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from citeloop.errors import CredentialsRefused, InvalidRequest, StoreError
from citeloop.governance import api_keys
from citeloop.governance.api_keys import ApiKeys
from citeloop.state.models import UserContext


@pytest.fixture
def keys(home: Path) -> ApiKeys:
    return ApiKeys(home)


def test_a_key_names_its_holder(keys: ApiKeys) -> None:
    key = keys.create("ann", ["staff", "legal", "staff"], name="laptop")
    assert keys.caller(key.text) == UserContext(user_id="ann", groups=("staff", "legal"))
    assert keys.rows() == [key.row]
    assert (key.row.name, key.row.state) == ("laptop", "active")


def test_secrets_are_long_and_their_own(keys: ApiKeys) -> None:
    texts = [keys.create("ann").text for _ in range(50)]
    secrets = [text.split("_", 2)[2] for text in texts]
    assert len(set(texts)) == len(set(secrets)) == 50
    assert all(text.startswith("cl_") and len(secret) == 43 for text, secret in zip(texts, secrets, strict=True))


def test_only_a_hash_is_kept_where_only_the_owner_may_look(keys: ApiKeys, home: Path) -> None:
    secret = keys.create("ann").text.split("_", 2)[2]
    kept = b"".join(path.read_bytes() for path in home.iterdir())
    assert secret.encode() not in kept
    assert stat.S_IMODE((home / "keys.db").stat().st_mode) == 0o600


def test_wrong_keys(keys: ApiKeys) -> None:
    text, other = keys.create("ann").text, keys.create("bob").text
    key_id, secret = text.split("_", 2)[1:]
    wrong = [
        "",
        "cl_",
        f"cl_{key_id}",
        f"cl_{key_id}_",
        f"cl_{key_id}_{other.split('_', 2)[2]}",
        f"cl_0000000000000000_{secret}",
        f"{text}x",
        text[:-1],
        f"cl_{key_id}_\ud800",
        f"cl_' OR 1=1 --_{secret}",
    ]
    told = set()
    for text in wrong:
        with pytest.raises(CredentialsRefused) as refused:
            keys.caller(text)
        told.add(str(refused.value))
    assert len(told) == 1


def test_revoked_is_worthless_at_once_and_still_a_key(keys: ApiKeys) -> None:
    key = keys.create("ann")
    revoked = keys.revoke(key.row.id)
    assert revoked is not None
    assert revoked.state == "revoked"
    assert keys.revoke(key.row.id) == revoked, "revoked once"
    with pytest.raises(CredentialsRefused):
        keys.caller(key.text)
    assert keys.ever_made(), "revoking the last key must not open the server"
    assert keys.revoke("0000000000000000") is None


def test_expired(keys: ApiKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    key = keys.create("ann", days=1)
    assert keys.caller(key.text).user_id == "ann"
    monkeypatch.setattr(api_keys, "_now", lambda: "2999-01-01T00:00:00+00:00")
    with pytest.raises(CredentialsRefused):
        keys.caller(key.text)
    assert keys.rows()[0].state == "expired"


@pytest.mark.parametrize("user", ["", " ", "local", " ann", "an\nn", "ann\0", "\ud800", "a" * 257])
def test_names_that_no_caller_may_have(keys: ApiKeys, home: Path, user: str) -> None:
    with pytest.raises(InvalidRequest):
        keys.create(user)
    with pytest.raises(InvalidRequest):
        keys.create("ann", ["" if user == "local" else user])
    assert not keys.ever_made()


@pytest.mark.parametrize("days", [0, -1, 10**9])
def test_days(keys: ApiKeys, days: int) -> None:
    with pytest.raises(InvalidRequest, match="days"):
        keys.create("ann", days=days)


def test_looking_makes_no_file(keys: ApiKeys, home: Path) -> None:
    assert not keys.ever_made()
    assert keys.rows() == []
    assert not home.exists()


def test_a_list_that_cannot_be_read_is_no_empty_list(keys: ApiKeys, home: Path) -> None:
    home.mkdir()
    for content in (b"", b"not a database, but long enough to be taken for one" * 100):
        (home / "keys.db").write_bytes(content)
        with pytest.raises(StoreError):
            keys.ever_made()


def test_a_row_changed_by_hand_gives_no_reserved_name(keys: ApiKeys, home: Path) -> None:
    key = keys.create("ann")
    with closing(sqlite3.connect(home / "keys.db")) as connection, connection:
        connection.execute("UPDATE keys SET user_id = 'local'")
    with pytest.raises(InvalidRequest):
        keys.caller(key.text)
