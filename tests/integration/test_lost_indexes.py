"""A search over indexes that were deleted: told, never taken for a corpus without an answer."""

import shutil
from pathlib import Path

import pytest

from citeloop.retrieval.hybrid import HybridSearcher, SearchOutcome
from citeloop.state.graph_state import SearchTask
from tests.integration.knowledge_stack import CALLER, KnowledgeStack, open_stack, write_documents


def search(stack: KnowledgeStack, query: str = "notebook") -> SearchOutcome:
    searcher = HybridSearcher(stack.store, stack.vectors, stack.words, stack.embedder)
    (branch,) = searcher.plan([query], ["handbook"], CALLER)
    task = SearchTask(
        round=0,
        query=query,
        corpus="handbook",
        depth=5,
        term_weights=branch.term_weights,
        timeout_s=5.0,
        command="query",
        access_reason="test",
    )
    return searcher.search(task, CALLER)


def methods(outcome: SearchOutcome) -> list[str]:
    return [ranked["method"] for ranked in outcome.lists if ranked["hits"]]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write_documents(tmp_path / "files", 2)
    return tmp_path / "files"


@pytest.fixture
def stack(home: Path, files: Path) -> KnowledgeStack:
    stack = open_stack(home)
    stack.indexer.index([files], "handbook", CALLER)
    return stack


@pytest.mark.parametrize("opened_before", [True, False])
@pytest.mark.parametrize(
    ("lost", "failed"),
    [(["vectors"], ["dense"]), (["lexical"], ["lexical"]), (["vectors", "lexical"], ["dense", "lexical"])],
)
def test_a_lost_index_is_told_and_built_anew(
    stack: KnowledgeStack, home: Path, files: Path, lost: list[str], failed: list[str], opened_before: bool
) -> None:
    assert methods(search(stack)) == ["dense", "lexical"]
    for folder in lost:
        shutil.rmtree(home / folder)
    reader = stack if opened_before else open_stack(home)
    outcome = search(reader)
    assert sorted(outcome.failures) == failed
    assert all(reason.startswith("StoreCorrupt") and "citeloop index" in reason for reason in outcome.failures.values())
    assert methods(outcome) == [method for method in ("dense", "lexical") if method not in failed]
    reader.indexer.index([files], "handbook", CALLER)
    assert methods(search(reader)) == ["dense", "lexical"]


def test_a_search_without_a_match_has_not_failed(stack: KnowledgeStack) -> None:
    for query in ("zeppelin", "what is it"):
        outcome = search(stack, query)
        assert (methods(outcome), outcome.failures) == (["dense"], {})


def test_an_empty_corpus_has_not_lost_anything(home: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    stack = open_stack(home)
    stack.indexer.index([tmp_path / "nothing"], "handbook", CALLER)
    outcome = search(stack)
    assert (methods(outcome), outcome.failures) == ([], {})
