"""``citeloop keys``: shown once, listed without secrets, revoked by id."""

import json
from pathlib import Path

import pytest

from citeloop.governance.api_keys import ApiKeys
from citeloop.state.models import UserContext
from tests.command_line import Run, citeloop


def test_create_prints_the_key_and_nothing_else(home: Path, run: Run) -> None:
    made = run(home, "keys", "create", "--user", "ann", "--group", "staff", "--group", "hr", "--name", "laptop")
    assert made.returncode == 0
    assert ApiKeys(home).caller(made.stdout.strip()) == UserContext(user_id="ann", groups=("staff", "hr"))
    assert "shown this once" in made.stderr
    listed = run(home, "keys", "list").stdout
    assert "active   ann (staff, hr)" in listed
    assert "laptop" in listed
    assert made.stdout.strip().split("_", 2)[2] not in listed


def test_json(home: Path, run: Run) -> None:
    made = json.loads(run(home, "keys", "create", "--user", "bob", "--expires", "30", "--json").stdout)
    assert ApiKeys(home).caller(made["key"]).user_id == "bob"
    [row] = [json.loads(line) for line in run(home, "keys", "list", "--json").stdout.splitlines()]
    assert row == {name: value for name, value in made.items() if name != "key"}
    assert row["state"] == "active"
    revoked = json.loads(run(home, "keys", "revoke", made["id"], "--json").stdout)
    assert revoked["state"] == "revoked"


def test_revoke(home: Path, run: Run) -> None:
    key = ApiKeys(home).create("ann")
    told = run(home, "keys", "revoke", key.row.id)
    assert told.returncode == 0
    assert "revoked  ann" in told.stdout
    assert run(home, "keys", "revoke", key.row.id).returncode == 0, "it is what was asked for"
    unknown = run(home, "keys", "revoke", "0000000000000000")
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
def test_bad_usage(home: Path, run: Run, arguments: tuple[str, ...], told: str) -> None:
    result = run(home, "keys", *arguments)
    assert result.returncode == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
    assert not ApiKeys(home).ever_made()


def test_an_empty_list(home: Path, run: Run) -> None:
    result = run(home, "keys", "list", "--json")
    assert (result.returncode, result.stdout) == (0, "")
    assert "citeloop keys create" in result.stderr


def test_as_a_process_of_its_own(home: Path) -> None:
    made = citeloop(home, "keys", "create", "--user", "ann")
    assert (made.returncode, made.stdout.count("\n"), made.stderr.count("\n")) == (0, 1, 1)
    assert ApiKeys(home).caller(made.stdout.strip()).user_id == "ann"
    unknown = citeloop(home, "keys", "revoke", "0000000000000000")
    assert (unknown.returncode, unknown.stdout, unknown.stderr.count("\n")) == (1, "", 1)
