"""Corpora that a caller may not open: told exactly as missing ones, on every way to them, and at no cost."""

import inspect
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from citeloop.errors import CorpusNotFound
from citeloop.knowledge.corpus import OpenCorpus
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.knowledge.store_writer import StoreWriter
from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.retrieval.passages import PassageReader
from citeloop.state.graph_state import Candidate, SearchTask
from citeloop.state.models import UserContext
from tests.integration.knowledge_stack import CALLER, KnowledgeStack, open_stack, write_documents

EVE = UserContext(user_id="eve", groups=("staff",))

Attempt = Callable[[KnowledgeStack, str], object]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the corpus ``handbook``, which is Ann's."""
    folder = tmp_path_factory.mktemp("denied")
    write_documents(folder / "files", 1)
    open_stack(folder / "home").indexer.index([folder / "files"], "handbook", CALLER)
    return folder / "home"


@pytest.fixture
def stack(filled: Path, home: Path) -> KnowledgeStack:
    return open_stack(Path(shutil.copytree(filled, home)))


READS: dict[str, Attempt] = {
    "open_corpus": lambda stack, name: stack.store.open_corpus(name, EVE),
    "open_corpora": lambda stack, name: stack.store.open_corpora([name], EVE),
    "plan": lambda stack, name: searcher(stack).plan(["notebook"], [name], EVE),
    "search": lambda stack, name: searcher(stack).search(task(name), EVE),
    "read": lambda stack, name: reader(stack).read_with_sentences([candidate(stack, name)], EVE),
    "around": lambda stack, name: reader(stack).around([candidate(stack, name)], EVE),
}
WRITES: dict[str, Attempt] = {
    "delete": lambda stack, name: stack.indexer.delete_corpus(name, EVE),
    "grant": lambda stack, name: stack.store.grant(name, ["user:eve"], EVE),
    "revoke": lambda stack, name: stack.store.revoke(name, ["user:ann"], EVE),
    "grants": lambda stack, name: stack.store.grants(name, EVE),
    "set_owner": lambda stack, name: stack.store.set_owner(name, "eve", EVE),
}


def searcher(stack: KnowledgeStack) -> HybridSearcher:
    return HybridSearcher(stack.store, stack.vectors, stack.words, stack.embedder)


def reader(stack: KnowledgeStack) -> PassageReader:
    return PassageReader(stack.store, MemoizedEmbedder(stack.embedder))


def task(corpus: str) -> SearchTask:
    return SearchTask(
        round=0, query="notebook", corpus=corpus, depth=9, term_weights={"notebook": 1.0}, timeout_s=9.0,
        command="query", access_reason="t",
    )  # fmt: skip


def candidate(stack: KnowledgeStack, corpus: str) -> Candidate:
    """A chunk that is there, said to be of ``corpus``."""
    return Candidate(chunk_id=stack.chunks()[0].id, corpus=corpus, document_uri="", score=1.0)


def told(stack: KnowledgeStack, attempt: Attempt, name: str) -> tuple[type, str, int]:
    """What Eve gets for a corpus of that name, its name left out, and how many statements it took."""
    statements: list[str] = []
    connect = stack.store.file._connect

    def traced(mode: str):  # type: ignore[no-untyped-def]
        connection = connect(mode)
        connection.set_trace_callback(statements.append)
        return connection

    stack.store.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stack.store.file, "_connect", traced)
        with pytest.raises(CorpusNotFound) as caught:
            attempt(stack, name)
        stack.store.close()
    return type(caught.value), str(caught.value).replace(name, "NAME"), len(statements)


@pytest.mark.parametrize("attempt", [*READS.values(), *WRITES.values()], ids=[*READS, *WRITES])
def test_a_denied_corpus_is_told_exactly_as_a_missing_one(stack: KnowledgeStack, attempt: Attempt) -> None:
    assert told(stack, attempt, "handbook") == told(stack, attempt, "nowhere")
    assert stack.store.corpus_summary(stack.corpus()).owner == "ann"
    assert stack.store.grants("handbook", CALLER) == []


@pytest.mark.parametrize("attempt", READS.values(), ids=READS)
def test_who_may_read_is_served(stack: KnowledgeStack, attempt: Attempt) -> None:
    stack.store.grant("handbook", ["group:staff"], CALLER)
    assert attempt(stack, "handbook")


@pytest.mark.parametrize("attempt", WRITES.values(), ids=WRITES)
def test_who_may_read_may_not_write(stack: KnowledgeStack, attempt: Attempt) -> None:
    stack.store.grant("handbook", ["everyone"], CALLER)
    assert told(stack, attempt, "handbook") == told(stack, attempt, "nowhere")
    assert [grant.principal for grant in stack.store.grants("handbook", CALLER)] == ["everyone"]


def test_every_way_to_read_asks_who_reads_or_takes_a_corpus_that_was_opened() -> None:
    methods = inspect.getmembers(HierarchicalKnowledgeStore, inspect.isfunction)
    reading = {name: inspect.signature(method).parameters for name, method in methods if not name.startswith("_")}
    assert reading["reading_entities"]["corpora"].annotation == Sequence[OpenCorpus]
    assert {name for name, given in reading.items() if not {"caller", "corpus", "corpora"} & given.keys()} == {"close"}


def steps(store: HierarchicalKnowledgeStore, ask: Callable[[], object]) -> int:
    """Instructions of SQLite's virtual machine: what an answer costs, without a clock."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    with store.file.reading() as connection:
        connection.set_progress_handler(step, 1)
    ask()  # the connection that was used last is used next
    with store.file.reading() as connection:
        connection.set_progress_handler(None, 1)
    return count


def add_foreign(stack: KnowledgeStack, numbers: range) -> None:
    """Corpora of others, granted to others."""
    with stack.store.file.writing() as connection:
        for number in numbers:
            StoreWriter(connection).create_corpus(f"a foreign one {number}", f"user {number}", "hash", 16)
    for number in numbers:
        stack.store.grant(f"a foreign one {number}", ["group:foreign", f"user:friend {number}"], UserContext())


def test_corpora_that_one_may_not_see_cost_nothing(stack: KnowledgeStack) -> None:
    stack.store.grant("handbook", ["group:staff"], CALLER)

    def costs() -> dict[str, int]:
        stack.store.open_corpora(None, EVE)  # after a change the schema is read anew
        return {
            "granted, by name": steps(stack.store, lambda: stack.store.open_corpus("handbook", EVE)),
            "granted, all": steps(stack.store, lambda: stack.store.open_corpora(None, EVE)),
            "owned, all": steps(stack.store, lambda: stack.store.open_corpora(None, CALLER)),
            "none": steps(stack.store, lambda: stack.store.open_corpora(None, UserContext(user_id="zoe"))),
        }

    add_foreign(stack, range(2))
    few = costs()
    add_foreign(stack, range(2, 300))
    assert len(stack.store.open_corpora(None, UserContext())) == 301
    assert costs() == few
    assert min(few.values()) > 0
