"""Changes of rights leave one row each in the audit log, durable before they take effect."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.errors import CorpusNotFound
from citeloop.governance.access import OwnersAndGrants
from citeloop.governance.api_keys import ApiKeys
from citeloop.governance.audit import AuditRow, audit_log_in
from citeloop.governance.rights_change import RightsChange
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.state.models import UserContext
from tests.command_line import REPOSITORY, Run, environment

LOCAL = UserContext()


def rows(home: Path) -> list[AuditRow]:
    """Oldest first."""
    return audit_log_in(home).rows()[::-1]


@pytest.fixture
def shared(kept: Path) -> Path:
    """A home with two corpora, of which everyone reads ``handbook``; nothing of that is in the audit log."""
    HierarchicalKnowledgeStore(kept).grant("handbook", ["everyone"], LOCAL)
    return kept


def rights(home: Path) -> tuple[object, ...]:
    """Who owns and reads what, and whose keys there are."""
    store = HierarchicalKnowledgeStore(home)
    corpora = [store.corpus_summary(corpus) for corpus in store.open_corpora(None, LOCAL)]
    readers = {corpus.name: [grant.principal for grant in store.grants(corpus.name, LOCAL)] for corpus in corpora}
    return {corpus.name: corpus.owner for corpus in corpora}, readers, [key.state for key in ApiKeys(home).rows()]


def test_each_change_of_a_corpus_is_one_row(shared: Path, run: Run, onnx_embedder: object) -> None:
    commands = [
        ["grant", "handbook", "--user", "ann", "--everyone", "--group", "Vertrieb Süd"],
        ["revoke", "handbook", "--everyone", "--user", "ben"],
        ["owner", "Büro 1", "auth0|47"],
        ["delete", "handbook", "--yes"],
    ]
    for command in commands:
        assert run(shared, "corpora", *command).returncode == 0
    listed = run(shared, "audit", "list", "--json").stdout.splitlines()
    told = [json.loads(line) for line in reversed(listed)]
    assert [row["event"] for row in told] == ["rights"] * 4
    assert len({UUID(row["request_id"]) for row in told}) == 4
    assert [row["body"] for row in told] == [
        {"change": "granted", "corpus": "handbook", "principals": ["user:ann", "group:Vertrieb Süd"], "by": "local"},
        {"change": "revoked", "corpus": "handbook", "principals": ["everyone"], "by": "local"},
        {"change": "owner", "corpus": "Büro 1", "principals": ["user:auth0|47"], "by": "local"},
        {"change": "deleted", "corpus": "handbook", "by": "local"},
    ]
    verified = json.loads(run(shared, "audit", "verify", "--json").stdout)
    assert (verified["rows"], verified["intact"], verified["unfinished"]) == (4, True, [])


def test_each_change_of_a_key_is_one_row_without_the_key(home: Path, run: Run) -> None:
    made = json.loads(run(home, "keys", "create", "--user", "ann", "--group", "staff", "--json").stdout)
    for _ in range(2):
        assert run(home, "keys", "revoke", made["id"]).returncode == 0
    about = {"key": made["id"], "user": "ann", "groups": ["staff"], "by": "local"}
    assert [(row.event, row.body) for row in rows(home)] == [
        ("rights", {"change": "key_created", **about}),
        ("rights", {"change": "key_revoked", **about}),
    ]
    secret = made["key"].split("_", 2)[2]
    assert all(secret.encode() not in path.read_bytes() for path in home.iterdir())


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["corpora", "grant", "handbook", "--everyone"], 0),
        (["corpora", "revoke", "handbook", "--user", "ann"], 0),
        (["corpora", "owner", "handbook", "local"], 0),
        (["corpora", "grant", "nope", "--everyone"], 1),
        (["corpora", "owner", "handbook", " "], 2),
        (["keys", "revoke", "0000000000000000"], 1),
        (["keys", "create", "--user", "local"], 2),
    ],
)
def test_what_changes_nothing_leaves_no_row(shared: Path, run: Run, command: list[str], code: int) -> None:
    before = rights(shared)
    assert run(shared, *command).returncode == code
    assert rows(shared) == []
    assert rights(shared) == before


CHANGES = {
    "granted": ["corpora", "grant", "handbook", "--user", "ann"],
    "revoked": ["corpora", "revoke", "handbook", "--everyone"],
    "owner": ["corpora", "owner", "handbook", "ann"],
    "deleted": ["corpora", "delete", "handbook", "--yes"],
    "key_created": ["keys", "create", "--user", "ann"],
    "key_revoked": ["keys", "revoke"],
}


@pytest.fixture(params=CHANGES)
def change(request: pytest.FixtureRequest, shared: Path, onnx_embedder: object) -> Iterator[tuple[str, list[str]]]:
    """A command that changes rights, by the name that its row has."""
    key = ApiKeys(shared).create("bob").row.id
    for leftover in shared.glob("audit.*"):
        leftover.unlink()
    name = request.param
    yield name, [*CHANGES[name], *([key] if name == "key_revoked" else [])]


def test_no_row_no_change(shared: Path, run: Run, change: tuple[str, list[str]]) -> None:
    before = rights(shared)
    (shared / "audit.db").write_bytes(b"not a database" * 1000)
    failed = run(shared, *change[1])
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "audit.db is not a readable audit log" in failed.stderr
    assert rights(shared) == before


KILLED = """
import os, signal, sqlite3, sys

connect = sqlite3.connect

def traced(database, *arguments, **options):
    connection = connect(database, *arguments, **options)
    if "audit.db" not in str(database):
        connection.set_trace_callback(die)
    return connection

def die(statement):
    if statement == "COMMIT":
        os.kill(os.getpid(), signal.SIGKILL)

sqlite3.connect = traced
from citeloop.cli import main
main()
"""


def test_killed_before_the_change_is_kept_there_is_its_row(shared: Path, change: tuple[str, list[str]]) -> None:
    name, command = change
    before = rights(shared)
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, *command], env=environment(shared), cwd=REPOSITORY, timeout=120
    )
    assert ended.returncode == -signal.SIGKILL
    assert rights(shared) == before
    assert [row.body["change"] for row in rows(shared)] == [name]


def test_an_engine_records_who_did_it(engine: RAGQueryEngine) -> None:
    ana = UserContext(user_id="ana")
    engine.store.set_owner("legal", "ana", LOCAL)
    engine.store.policy = OwnersAndGrants(local_user_is_trusted=False)
    engine.store.grant("legal", ["user:bob"], ana)
    with pytest.raises(CorpusNotFound):
        engine.store.revoke("legal", ["user:bob"], UserContext(user_id="bob"))
    engine.indexer.delete_corpus("legal", ana)
    told = [(row.body["change"], row.body["by"]) for row in engine.audit.rows()[::-1]]
    assert told == [("owner", "local"), ("granted", "ana"), ("deleted", "ana")]


def test_a_store_alone_tells_whom_it_is_given(kept: Path) -> None:
    told: list[RightsChange] = []
    HierarchicalKnowledgeStore(kept, on_rights_change=told.append).grant("handbook", ["everyone"], LOCAL)
    assert told == [{"change": "granted", "corpus": "handbook", "principals": ["everyone"], "by": "local"}]
    assert rows(kept) == []
