"""The full scan: shards of the store, merged, are what a brute-force scan finds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citeloop.errors import CorpusNotFound
from citeloop.governance.access import OwnersAndGrants
from citeloop.knowledge import vector_rows
from citeloop.knowledge.corpus import Hit
from citeloop.knowledge.vector_rows import cut_shards, read_shard, read_vectors
from citeloop.retrieval.exact import ExactVectorSearch
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.retrieval.query_fusion import merge_corpora
from citeloop.retrieval.scan import CorpusScanner, ScanBranch
from citeloop.state.graph_state import ScanTask
from citeloop.state.models import UserContext
from tests.integration.knowledge_stack import CALLER, HashEmbedder, KnowledgeStack, open_stack, write_documents

QUERY = "which notebook?"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeStack:
    """Two corpora whose rows stand between each other's."""
    folder = tmp_path_factory.mktemp("scan")
    stack = open_stack(folder / "home")
    for count in (6, 12):
        for name in ("handbook", "legal"):
            write_documents(folder / name, count, paragraphs=3, edition=name)
            stack.indexer.index([folder / name], name, CALLER)
    return stack


def scanner_of(stack: KnowledgeStack) -> CorpusScanner:
    return CorpusScanner(HybridSearcher(stack.store, stack.vectors, stack.words, stack.embedder))


def task_of(branch: ScanBranch, depth: int, **changes: Any) -> ScanTask:
    told: dict[str, Any] = {**branch._asdict(), **branch.shard._asdict(), "shard": branch.number, "depth": depth}
    return ScanTask(**{**told, **changes})


def scan_all(stack: KnowledgeStack, shard_rows: int, depth: int) -> list[Hit]:
    scanner = scanner_of(stack)
    tasks = [task_of(branch, depth) for branch in scanner.plan([QUERY], None, CALLER, shard_rows)]
    lists = [ranked for task in tasks for ranked in scanner.scan(task, CALLER).lists]
    return merge_corpora(lists, depth)[QUERY, "scan"]


def brute_force(stack: KnowledgeStack, depth: int) -> list[Hit]:
    query_vector = stack.embedder.embed([QUERY])[0]
    hits = [hit for name in ("handbook", "legal") for hit in _every(stack, name, query_vector)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:depth]


def _every(stack: KnowledgeStack, name: str, query_vector: np.ndarray) -> list[Hit]:
    [(ids, vectors)] = stack.store.scan_vectors(stack.corpus(name))
    return [Hit(i, float(np.einsum("i,i->", v, query_vector))) for i, v in zip(ids, vectors, strict=True)]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shard_rows=st.integers(1, 90), depth=st.integers(1, 90))
def test_however_it_is_cut_the_scan_is_the_brute_force_one(stack: KnowledgeStack, shard_rows: int, depth: int) -> None:
    found, wanted = scan_all(stack, shard_rows, depth), brute_force(stack, depth)
    assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in wanted]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in wanted], abs=1e-6)
    assert found == scan_all(stack, 10_000, depth), "to the last bit, whatever the shards"


def test_no_more_rows_are_held_at_a_time_than_a_batch_has(
    stack: KnowledgeStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_rows, "_ROWS_AT_A_TIME", 4)
    corpus = stack.corpus("legal")
    [shard] = cut_shards(stack.store, corpus, 1000)
    sizes = [len(vectors) for _, vectors in read_shard(stack.store, corpus, shard.first_row, shard.last_row)]
    assert sizes == [4] * 9
    assert scan_all(stack, 1000, 9) == scan_all(stack, 3, 9)


@pytest.mark.parametrize("rows", [1, 5, 36, 1000])
def test_shards_hold_every_row_once_and_no_more_than_they_may(stack: KnowledgeStack, rows: int) -> None:
    corpus = stack.corpus("legal")
    shards = cut_shards(stack.store, corpus, rows)
    read = [list(read_shard(stack.store, corpus, shard.first_row, shard.last_row)) for shard in shards]
    assert [sum(len(ids) for ids, _ in batches) for batches in read] == [shard.rows for shard in shards]
    assert all(vectors.shape == (len(ids), 16) for batches in read for ids, vectors in batches)
    assert max(shard.rows for shard in shards) <= rows
    assert [i for batches in read for ids, _ in batches for i in ids] == [chunk.id for chunk in stack.chunks("legal")]


def test_the_exact_search_of_a_forked_child_breaks_ties_alike(stack: KnowledgeStack) -> None:
    query_vector = stack.embedder.embed([QUERY])[0]
    corpus = stack.corpus()
    assert (
        ExactVectorSearch(stack.store).search(corpus, query_vector, 7)
        == [hit for hit in scan_all(stack, 4, 90) if hit.chunk_id in {c.id for c in stack.chunks()}][:7]
    )


def test_words_come_with_the_first_shard_of_a_corpus_alone(stack: KnowledgeStack) -> None:
    scanner = scanner_of(stack)
    branches = scanner.plan([QUERY], ["handbook"], CALLER, 10)
    outcomes = [scanner.scan(task_of(branch, 5), CALLER) for branch in branches]
    assert len(outcomes) == 4
    assert [[ranked["method"] for ranked in outcome.lists] for outcome in outcomes] == [["scan", "lexical"]] + 3 * [
        ["scan"]
    ]


def test_a_forged_shard_reads_nothing_of_a_corpus_that_is_not_open(stack: KnowledgeStack) -> None:
    [branch] = scanner_of(stack).plan([QUERY], ["legal"], CALLER, 1000)
    policy, stack.store.policy = stack.store.policy, OwnersAndGrants(local_user_is_trusted=False)
    try:
        stack.store.grant("handbook", ["user:bob"], CALLER)
        bob = UserContext(user_id="bob")
        with pytest.raises(CorpusNotFound):
            scanner_of(stack).scan(task_of(branch, 5), bob)
        forged = task_of(branch, 90, corpus="handbook", first_row=0, last_row=10**9)
        own = {chunk.id for chunk in stack.chunks()}
        for ranked in scanner_of(stack).scan(forged, bob).lists:
            assert {hit[0] for hit in ranked["hits"]} <= own, (
                "rows are those of the corpus that is open, whatever is asked"
            )
    finally:
        stack.store.policy = policy


def test_vectors_are_read_by_id_from_their_corpus_only(stack: KnowledgeStack) -> None:
    chunk = stack.chunks()[3]
    placed = read_vectors(stack.store, stack.corpus(), [chunk.id, "unknown", stack.chunks("legal")[0].id])
    assert list(placed) == [chunk.id]
    assert (placed[chunk.id].document_id, placed[chunk.id].section_id) == (chunk.document_id, chunk.section_id)
    assert np.linalg.norm(placed[chunk.id].vector) == pytest.approx(1, abs=1e-5)


def test_another_model_is_refused(stack: KnowledgeStack) -> None:
    other = HybridSearcher(stack.store, stack.vectors, stack.words, HashEmbedder("other"))
    scanner = CorpusScanner(other)
    [branch, _] = scanner.plan([QUERY], None, CALLER, 1000)
    with pytest.raises(Exception, match="was filled by hash"):
        scanner.scan(task_of(branch, 5), CALLER)
