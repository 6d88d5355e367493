"""Which principals a caller is, and what a principal looks like."""

import pytest

from citeloop.errors import InvalidRequest
from citeloop.governance.access import LocalSingleUser, OwnersAndGrants, may_own, parse_principal
from citeloop.state.models import UserContext

LOCAL = UserContext()


def principals(user_id: str, *groups: str) -> frozenset[str] | None:
    return OwnersAndGrants().principals(UserContext(user_id=user_id, groups=groups))


def test_a_caller_is_the_user_the_groups_and_everyone() -> None:
    assert principals("ann", "staff", "Vertrieb Süd") == {"user:ann", "group:staff", "group:Vertrieb Süd", "everyone"}
    assert principals("ann") == {"user:ann", "everyone"}


def test_without_an_identity_a_caller_is_trusted_or_nobody() -> None:
    assert OwnersAndGrants().principals(LOCAL) is None
    assert OwnersAndGrants(local_user_is_trusted=False).principals(LOCAL) == {"everyone"}
    grouped = UserContext(groups=("staff",))
    assert OwnersAndGrants(local_user_is_trusted=False).principals(grouped) == {"everyone"}


def test_where_the_program_sees_to_access_all_may_do_all() -> None:
    assert LocalSingleUser().principals(UserContext(user_id="ann")) is None


@pytest.mark.parametrize("name", ["ann\0", "ann\0x", "ann\n", " ann", "\u2028"])
def test_a_name_that_nothing_can_be_granted_to_has_no_rights(name: str) -> None:
    assert principals(name, name) == {"everyone"}


@pytest.mark.parametrize("name", ["everyone", "user:ann", "group:staff", ":"])
def test_a_name_that_looks_like_a_principal_is_a_name(name: str) -> None:
    assert principals(name, name) == {f"user:{name}", f"group:{name}", "everyone"}


@pytest.mark.parametrize(
    "text",
    [
        "everyone",
        "user:ann",
        "user:auth0|4711",
        "user:a:b",
        "group:/Sales/North East",
        "group:社内\u3000規程",
        "group:می\u200cشود",
    ],
)
def test_a_principal(text: str) -> None:
    assert parse_principal(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ann",
        "user:",
        "group:",
        "user: ",
        "user: ann",
        "group:staff\n",
        "user:a\0b",
        "user:\udcff",
        "User:ann",
        "Everyone",
    ],
)
def test_no_principal(text: str) -> None:
    with pytest.raises(InvalidRequest, match="write user:<id>, group:<name> or everyone"):
        parse_principal(text)


def test_only_somebody_can_own() -> None:
    ann = UserContext(user_id="ann")
    assert may_own(ann, principals("ann"))
    assert may_own(LOCAL, None)
    assert not may_own(LOCAL, frozenset({"everyone"}))
    assert not may_own(UserContext(user_id="ann\0"), principals("ann\0"))
