"""``citeloop keys``: shown once, listed without secrets, revoked by id."""

import json
from pathlib import Path

import pytest

from citeloop.governance.api_keys import ApiKeys
from citeloop.state.models import UserContext
from tests.command_line import citeloop


def test_create_prints_the_key_and_nothing_else(home: Path) -> None:
    made = citeloop(home, "keys", "create", "--user", "ann", "--group", "staff", "--group", "hr", "--name", "laptop")
    assert made.returncode == 0
    assert ApiKeys(home).caller(made.stdout.strip()) == UserContext(user_id="ann", groups=("staff", "hr"))
    assert "shown this once" in made.stderr
    listed = citeloop(home, "keys", "list").stdout
    assert "active   ann (staff, hr)" in listed
    assert "laptop" in listed
    assert made.stdout.strip().split("_", 2)[2] not in listed


def test_json(home: Path) -> None:
    made = json.loads(citeloop(home, "keys", "create", "--user", "bob", "--expires", "30", "--json").stdout)
    assert ApiKeys(home).caller(made["key"]).user_id == "bob"
    [row] = [json.loads(line) for line in citeloop(home, "keys", "list", "--json").stdout.splitlines()]
    assert row == {name: value for name, value in made.items() if name != "key"}
    assert row["state"] == "active"
    revoked = json.loads(citeloop(home, "keys", "revoke", made["id"], "--json").stdout)
    assert revoked["state"] == "revoked"


def test_revoke(home: Path) -> None:
    key = ApiKeys(home).create("ann")
    told = citeloop(home, "keys", "revoke", key.row.id)
    assert told.returncode == 0
    assert "revoked  ann" in told.stdout
    assert citeloop(home, "keys", "revoke", key.row.id).returncode == 0, "it is what was asked for"
    unknown = citeloop(home, "keys", "revoke", "0000000000000000")
    assert unknown.returncode == 1
    assert "no key has the id '0000000000000000'" in unknown.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("create",), "Missing option '--user'"),
        (("create", "--user", "local"), "choose another name"),
        (("create", "--user", " "), "cannot name a user or a group"),
        (("create", "--user", "ann", "--group", ""), "cannot name a user or a group"),
        (("create", "--user", "ann", "--expires", "0"), "0 is not in the range"),
        (("create", "--user", "ann", "--name", "two\nlines"), "one line"),
        (("revoke",), "Missing argument 'ID'"),
    ],
)
def test_bad_usage(home: Path, arguments: tuple[str, ...], told: str) -> None:
    result = citeloop(home, "keys", *arguments)
    assert result.returncode == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
    assert not ApiKeys(home).ever_made()


def test_an_empty_list(home: Path) -> None:
    result = citeloop(home, "keys", "list", "--json")
    assert (result.returncode, result.stdout) == (0, "")
    assert "citeloop keys create" in result.stderr
