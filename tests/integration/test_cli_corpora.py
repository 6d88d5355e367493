"""``citeloop corpora``: whose a corpus is and who may read it, as people type it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.state.models import UserContext
from tests.command_line import REPOSITORY, Run, citeloop, environment


def done(result: "CompletedProcess[str]") -> str:
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def refused(result: "CompletedProcess[str]", code: int) -> str:
    """The one line on stderr."""
    assert (result.returncode, result.stdout) == (code, ""), result.stderr
    (line,) = result.stderr.splitlines()
    return line


def open_to(home: Path, user_id: str, *groups: str) -> list[str]:
    caller = UserContext(user_id=user_id, groups=groups)
    return [corpus.name for corpus in HierarchicalKnowledgeStore(home).open_corpora(None, caller)]


def test_grant_and_revoke(kept: Path, run: Run) -> None:
    readers = ("--user", "ann", "--group", "Vertrieb Süd", "--user", "ben")
    granted = done(run(kept, "corpora", "grant", "handbook", *readers))
    assert granted == "handbook: granted to user:ann, user:ben, group:Vertrieb Süd\n"
    assert open_to(kept, "ann") == open_to(kept, "zoe", "Vertrieb Süd") == ["handbook"]

    again = done(run(kept, "corpora", "grant", "handbook", "--everyone", "--user", "ann"))
    assert again == "handbook: granted to everyone; granted before to user:ann\n"
    assert open_to(kept, "zoe") == ["handbook"]

    revoked = done(run(kept, "corpora", "revoke", "handbook", "--everyone", "--user", "anne", *readers[2:4]))
    assert revoked == "handbook: revoked from group:Vertrieb Süd, everyone; was not granted to user:anne\n"
    assert (open_to(kept, "ann"), open_to(kept, "zoe", "Vertrieb Süd")) == (["handbook"], [])


def test_grant_and_revoke_as_json(kept: Path, run: Run) -> None:
    def changed(command: str, *readers: str) -> object:
        return json.loads(done(run(kept, "corpora", command, "Büro 1", *readers, "--json")))

    assert changed("grant", "--user", "ann", "--user", "ann") == {
        "corpus": "Büro 1",
        "granted": ["user:ann"],
        "unchanged": [],
    }
    assert changed("revoke", "--user", "ann", "--everyone") == {
        "corpus": "Büro 1",
        "revoked": ["user:ann"],
        "unchanged": ["everyone"],
    }


def test_owner(kept: Path, run: Run) -> None:
    assert done(run(kept, "corpora", "owner", "handbook", "ann")) == "handbook: now owned by ann\n"
    assert open_to(kept, "ann") == ["handbook"]
    as_json = done(run(kept, "corpora", "owner", "Büro 1", "auth0|47", "--json"))
    assert json.loads(as_json) == {"corpus": "Büro 1", "owner": "auth0|47"}
    listed = done(run(kept, "corpora")).splitlines()
    assert [line.rsplit(", ", 1) for line in listed] == [
        ["Büro 1: 2 documents, 4 chunks, hash", "owner auth0|47"],
        ["handbook: 2 documents, 4 chunks, hash", "owner ann"],
    ]


def test_show(kept: Path, run: Run) -> None:
    run(kept, "corpora", "grant", "handbook", "--group", "staff", "--everyone")
    shown = json.loads(done(run(kept, "corpora", "show", "handbook", "--json")))
    assert {name: shown[name] for name in ("name", "owner", "documents", "chunks", "embedding_model")} == {
        "name": "handbook",
        "owner": "local",
        "documents": 2,
        "chunks": 4,
        "embedding_model": "hash",
    }
    assert [(grant["principal"], grant["granted_by"]) for grant in shown["grants"]] == [
        ("everyone", "local"),
        ("group:staff", "local"),
    ]
    page = done(run(kept, "corpora", "show", "handbook"))
    since = shown["grants"][0]["granted_at"]
    assert page.startswith("handbook\n  owner      local\n")
    assert f"  reader     everyone, since {since} by local\n" in page
    assert f"  version    {shown['version']}, of {shown['updated_at']}\n" in page
    assert "  reader     none but the owner\n" in done(run(kept, "corpora", "show", "Büro 1"))


def test_delete_as_json(kept: Path, run: Run, onnx_embedder: object) -> None:
    deleted = json.loads(done(run(kept, "corpora", "delete", "handbook", "--yes", "--json")))
    assert deleted == {"corpus": "handbook", "deleted": {"documents": 2, "chunks": 4}}


@pytest.mark.parametrize(
    ("command", "rest"),
    [("show", []), ("grant", ["--everyone"]), ("revoke", ["--everyone"]), ("owner", ["ann"]), ("delete", ["--yes"])],
)
def test_a_corpus_that_is_not_there(kept: Path, run: Run, onnx_embedder: object, command: str, rest: list[str]) -> None:
    line = refused(run(kept, "corpora", command, "nope", *rest), 1)
    assert line == ("citeloop: no corpus named 'nope' is open to you; list those that are with `citeloop corpora`")
    assert len(open_to(kept, "local")) == 2


@pytest.mark.parametrize("name", ["", " ", "a\nb", os.fsdecode(b"\xff")])
def test_what_cannot_be_the_name_of_a_corpus(kept: Path, run: Run, name: str) -> None:
    assert "name of a corpus" in refused(run(kept, "corpora", "show", name), 2)


@pytest.mark.parametrize(
    ("arguments", "way_out"),
    [
        (["grant", "handbook"], "--user ID, --group NAME or --everyone"),
        (["revoke", "handbook", "--json"], "--user ID, --group NAME or --everyone"),
        (["grant", "handbook", "--user", ""], "'user:' names nobody"),
        (["grant", "handbook", "--user", "ann", "--group", " staff"], "'group: staff' names nobody"),
        (["revoke", "handbook", "--user", "a\tb"], "without control characters"),
        (["owner", "handbook", os.fsdecode(b"\xff")], "names nobody"),
        (["owner", "handbook", " "], "names nobody"),
        (["owner", "handbook"], "'USER'"),
        (["grant", "--everyone"], "'NAME'"),
        (["--json", "show", "handbook"], "--json after show"),
    ],
)
def test_bad_usage_changes_nothing(kept: Path, run: Run, arguments: list[str], way_out: str) -> None:
    assert way_out in refused(run(kept, "corpora", *arguments), 2)
    store = HierarchicalKnowledgeStore(kept)
    assert store.grants("handbook", UserContext()) == []
    assert store.corpus_summary(store.open_corpus("handbook", UserContext())).owner == "local"


def test_as_a_process_of_its_own(kept: Path) -> None:
    assert done(citeloop(kept, "corpora", "grant", "Büro 1", "--everyone")) == "Büro 1: granted to everyone\n"
    assert "no corpus named 'nope' is open to you" in refused(citeloop(kept, "corpora", "show", "nope"), 1)
    assert "'user:' names nobody" in refused(citeloop(kept, "corpora", "revoke", "Büro 1", "--user", ""), 2)


def test_rights_are_told_and_changed_without_loading_a_model(kept: Path) -> None:
    commands = [
        ["corpora", "show", "handbook"],
        ["corpora", "grant", "handbook", "--everyone"],
        ["corpora", "revoke", "handbook", "--everyone"],
        ["corpora", "owner", "handbook", "ann"],
        ["keys", "create", "--user", "ann"],
        ["keys", "revoke", "0000000000000000"],
        ["audit", "list"],
    ]
    script = (
        "import sys; from citeloop.cli import cli\n"
        f"for command in {commands!r}: cli(command, standalone_mode=False)\n"
        "print('loaded', *{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(kept),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = set(result.stderr.rpartition("loaded ")[2].split())
    assert "citeloop" in loaded
    assert loaded.isdisjoint({"chromadb", "onnxruntime", "langgraph", "torch", "tantivy", "langchain_openai", "openai"})
