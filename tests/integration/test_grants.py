"""Owners and grants: who reads a corpus and who writes it, now and after a change."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from citeloop.errors import CorpusNotFound, InvalidRequest
from citeloop.governance.access import OwnersAndGrants
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.state.models import UserContext
from tests.integration.knowledge_stack import CALLER, ELSEWHERE, KnowledgeStack, open_stack, write_documents

BOB = UserContext(user_id="bob", groups=("staff", "board"))
EVE = UserContext(user_id="eve", groups=("Staff",))
LOCAL = UserContext()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the corpora ``handbook`` and ``other``, both Ann's."""
    folder = tmp_path_factory.mktemp("grants")
    write_documents(folder / "files", 1)
    stack = open_stack(folder / "home")
    for name in ("handbook", "other"):
        stack.indexer.index([folder / "files"], name, CALLER)
    return folder / "home"


@pytest.fixture
def stack(filled: Path, home: Path) -> KnowledgeStack:
    return open_stack(Path(shutil.copytree(filled, home)))


@pytest.fixture
def store(stack: KnowledgeStack) -> HierarchicalKnowledgeStore:
    return stack.store


def names(store: HierarchicalKnowledgeStore, caller: UserContext) -> list[str]:
    """The corpora that the caller is shown, each of which can be opened by its name."""
    shown = [corpus.name for corpus in store.open_corpora(None, caller)]
    assert [corpus.name for corpus in store.open_corpora(shown, caller)] == shown
    return shown


def test_a_corpus_is_its_makers_alone(store: HierarchicalKnowledgeStore) -> None:
    assert names(store, CALLER) == ["handbook", "other"]
    assert names(store, BOB) == names(store, EVE) == []


@pytest.mark.parametrize(
    ("reader", "bobs", "eves"),
    [
        ("user:bob", ["handbook"], []),
        ("group:board", ["handbook"], []),
        ("everyone", ["handbook"], ["handbook"]),
        ("user:staff", [], []),
        ("group:bob", [], []),
        ("group:STAFF", [], []),
        ("user:everyone", [], []),
    ],
)
def test_a_grant_opens_one_corpus_to_whom_it_names(
    store: HierarchicalKnowledgeStore, reader: str, bobs: list[str], eves: list[str]
) -> None:
    assert store.grant("handbook", [reader], CALLER) == [reader]
    assert (names(store, BOB), names(store, EVE)) == (bobs, eves)
    assert store.revoke("handbook", [reader], CALLER) == [reader]
    assert (names(store, BOB), names(store, EVE)) == ([], [])
    assert names(store, CALLER) == ["handbook", "other"]


def test_a_corpus_that_is_open_in_several_ways_is_listed_once_and_closed_by_the_last(
    store: HierarchicalKnowledgeStore,
) -> None:
    readers = ["user:bob", "group:staff", "group:board", "user:ann"]
    store.grant("handbook", readers, CALLER)
    assert (names(store, BOB), names(store, CALLER)) == (["handbook"], ["handbook", "other"])
    store.revoke("handbook", readers[:2], CALLER)
    assert names(store, BOB) == ["handbook"]
    store.revoke("handbook", readers[2:], CALLER)
    assert (names(store, BOB), names(store, CALLER)) == ([], ["handbook", "other"])


def test_grants_say_who_gave_them_and_the_first_stays(store: HierarchicalKnowledgeStore) -> None:
    assert store.grant("handbook", ["user:eve", "group:staff", "user:eve"], CALLER) == ["user:eve", "group:staff"]
    before = store.grants("handbook", CALLER)
    assert [(grant.principal, grant.granted_by) for grant in before] == [("group:staff", "ann"), ("user:eve", "ann")]
    assert all(grant.granted_at.endswith("+00:00") for grant in before)
    assert store.grant("handbook", ["user:eve", "everyone"], LOCAL) == ["everyone"]
    assert [grant for grant in store.grants("handbook", CALLER) if grant.granted_by == "ann"] == before


def test_a_list_with_one_that_is_nobody_changes_nothing(store: HierarchicalKnowledgeStore) -> None:
    store.grant("handbook", ["user:bob"], CALLER)
    for change in (store.grant, store.revoke):
        with pytest.raises(InvalidRequest, match="'dave' names nobody"):
            change("handbook", ["user:bob", "everyone", "dave"], CALLER)
    assert [grant.principal for grant in store.grants("handbook", CALLER)] == ["user:bob"]


def test_an_owner_gives_the_corpus_away(store: HierarchicalKnowledgeStore) -> None:
    store.grant("handbook", ["group:Staff"], CALLER)
    store.set_owner("handbook", "bob", CALLER)
    assert (names(store, CALLER), names(store, BOB), names(store, EVE)) == (["other"], ["handbook"], ["handbook"])
    with pytest.raises(CorpusNotFound):
        store.set_owner("handbook", "ann", CALLER)
    assert store.revoke("handbook", ["group:Staff"], BOB) == ["group:Staff"]
    with pytest.raises(InvalidRequest, match="names nobody"):
        store.set_owner("handbook", " ", BOB)


def test_the_local_user_may_do_all_where_trusted_and_what_everyone_may_elsewhere(
    stack: KnowledgeStack, filled: Path
) -> None:
    assert names(stack.store, LOCAL) == ["handbook", "other"]
    stack.store.policy = OwnersAndGrants(local_user_is_trusted=False)
    assert names(stack.store, LOCAL) == []
    stack.store.grant("other", ["everyone"], CALLER)
    assert names(stack.store, LOCAL) == ["other"]
    for name in ("other", "handbook", "fresh"):  # nor can nobody own a corpus
        with pytest.raises(CorpusNotFound):
            stack.indexer.index([filled.parent / "files"], name, LOCAL)


def test_grants_go_with_their_corpus(stack: KnowledgeStack, filled: Path) -> None:
    stack.store.grant("handbook", ["everyone"], CALLER)
    stack.indexer.delete_corpus("handbook", CALLER)
    stack.indexer.index([filled.parent / "files"], "handbook", BOB)
    assert stack.store.grants("handbook", BOB) == []
    assert (names(stack.store, BOB), names(stack.store, EVE)) == (["handbook"], [])


def test_rights_change_while_documents_are_being_indexed(store: HierarchicalKnowledgeStore, home: Path) -> None:
    store.grant("handbook", ["user:bob"], CALLER)
    with HierarchicalKnowledgeStore(home).file.writing():
        store.revoke("handbook", ["user:bob"], CALLER)
        store.set_owner("other", "eve", CALLER)
    assert (names(store, BOB), names(store, EVE), names(store, CALLER)) == ([], ["other"], ["handbook"])


def test_a_running_process_answers_by_the_rights_of_now(store: HierarchicalKnowledgeStore, home: Path) -> None:
    asking = """
import sys
from pathlib import Path
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.state.models import UserContext
store, bob = HierarchicalKnowledgeStore(Path(sys.argv[1])), UserContext(user_id="bob")
for _ in sys.stdin:
    print(*(corpus.name for corpus in store.open_corpora(None, bob)), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", asking, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ELSEWHERE,
    ) as other:
        assert other.stdin and other.stdout

        def opened() -> str:
            other.stdin.write("?\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        assert opened() == ""
        store.grant("handbook", ["user:bob"], CALLER)
        assert opened() == "handbook"
        store.revoke("handbook", ["user:bob"], CALLER)
        assert opened() == ""
        other.stdin.close()
