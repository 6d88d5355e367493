"""The nodes that find evidence: search, fuse, rerank, assemble, expand, drop."""

import asyncio
import math
import time
from typing import Any

import numpy as np
import pytest

from citeloop.errors import InvalidRequest, SearchFailed
from citeloop.nodes.assemble_context import assemble_context
from citeloop.nodes.drop_invalid_sources import drop_invalid_sources
from citeloop.nodes.expand_context import expand_context
from citeloop.nodes.fuse_results import fuse_results
from citeloop.nodes.plan_searches import plan_searches
from citeloop.nodes.rerank_chunks import rerank_chunks
from citeloop.nodes.search_corpus import search_corpus
from citeloop.retrieval.hybrid import Branch, SearchOutcome
from citeloop.state.graph_state import RankedList, SearchFailure, SearchTask
from citeloop.workers import WorkerPool
from tests.unit.graph_fakes import ChunkReader, InlineWorkers, candidate, passage, runtime, turn, verdict

TASK = SearchTask(
    round=0,
    query="leave?",
    corpus="handbook",
    depth=10,
    term_weights={},
    timeout_s=5.0,
    command="query",
    access_reason="test",
)


class Searcher:
    """Answers each task with ``lists``, or raises the error."""

    def __init__(self, outcome: Any = (), failures: Any = None, block_s: float = 0.0) -> None:
        self.outcome, self.failures, self.block_s = outcome, failures or {}, block_s

    def plan(self, queries: list[str], corpora: Any, caller: Any) -> list[Branch]:
        return [Branch(query, "handbook", {}) for query in queries]

    def search(self, task: SearchTask, caller: Any) -> SearchOutcome:
        time.sleep(self.block_s)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return SearchOutcome(list(self.outcome), self.failures)


def ranked(
    *hits: tuple[str, float], corpus: str = "handbook", method: Any = "dense", query: str = "leave?"
) -> RankedList:
    return RankedList(query=query, corpus=corpus, method=method, hits=list(hits))


async def plan(settings: dict[str, Any] | None = None, **changes: Any) -> SearchTask:
    update = await plan_searches(
        turn(**changes),
        runtime(**(settings or {})),
        {},
        searcher=Searcher(),
        workers=InlineWorkers(),  # type: ignore[arg-type]
    )
    [task] = update["search_tasks"]
    return task


async def test_standard_over_fetches() -> None:
    task = await plan()
    assert (task["depth"], task["round"], task["access_reason"]) == (50, 0, "test")


async def test_simple_fetches_what_is_wanted_and_a_widened_search_more() -> None:
    analysis = {"intent": "factual", "estimated_complexity": 0.0, "strategy": "simple", "reason": ""}
    assert (await plan(analysis=analysis))["depth"] == 10
    assert (await plan({"top_k": 30}, analysis=analysis))["depth"] == 30
    assert (await plan(analysis=analysis, correction="widen", round=1))["depth"] == 100


async def test_a_damaged_index_costs_its_own_list_only() -> None:
    searcher = Searcher([ranked(("a", 0.9))], {"lexical": "StoreCorrupt: words.idx"})
    update = await search_corpus(TASK, {}, searcher=searcher, workers=InlineWorkers())  # type: ignore[arg-type]
    assert list(update["ranked_lists"]) == ["00|leave?|handbook|dense"]
    assert update["search_failures"]["00|leave?|handbook|lexical"]["error"] == "StoreCorrupt: words.idx"


async def test_a_branch_writes_under_a_key_of_its_own() -> None:
    lists = [ranked(("a", 0.9)), ranked(("b", 3.0), method="lexical")]
    update = await search_corpus(TASK, {}, searcher=Searcher(lists), workers=InlineWorkers())  # type: ignore[arg-type]
    assert update["ranked_lists"] == {
        "00|leave?|handbook|dense": lists[0],
        "00|leave?|handbook|lexical": lists[1],
    }


async def test_a_branch_that_raises_is_recorded_not_raised(caplog: pytest.LogCaptureFixture) -> None:
    update = await search_corpus(TASK, {}, searcher=Searcher(OSError("disk")), workers=InlineWorkers())  # type: ignore[arg-type]
    assert update["search_failures"]["00|leave?|handbook"]["error"] == "OSError: disk"
    assert "dropped out" in caplog.text


async def test_a_slow_branch_ends_at_its_time_limit() -> None:
    task = SearchTask(**{**TASK, "timeout_s": 0.05})
    workers = WorkerPool(2)
    update = await search_corpus(task, {}, searcher=Searcher([], block_s=0.4), workers=workers)  # type: ignore[arg-type]
    assert "no result within 0.05 s" in update["search_failures"]["00|leave?|handbook"]["error"]
    workers.close()


async def fuse(lists: dict[str, RankedList], **changes: Any) -> Any:
    return await fuse_results(turn(ranked_lists=lists, search_tasks=[TASK], **changes), runtime())


async def test_corpora_of_one_query_merge_by_score_not_by_rank() -> None:
    update = await fuse({"1": ranked(("good", 0.8), ("fair", 0.6)), "2": ranked(("off", 0.1), corpus="other")})
    assert [c["chunk_id"] for c in update["candidates"]] == ["good", "fair", "off"]
    assert [c["score"] for c in update["candidates"]] == [1 / 61, 1 / 62, 1 / 63]
    assert [c["corpus"] for c in update["candidates"]] == ["handbook", "handbook", "other"]


async def test_methods_fuse_by_reciprocal_rank() -> None:
    update = await fuse({"d": ranked(("a", 0.9), ("b", 0.8)), "l": ranked(("b", 7.0), ("c", 5.0), method="lexical")})
    assert update["candidates"][0]["chunk_id"] == "b"
    assert math.isclose(update["candidates"][0]["score"], 1 / 62 + 1 / 61, rel_tol=0)


async def test_the_order_of_branches_does_not_show() -> None:
    lists = {str(i): ranked((f"c{i}", 0.5), corpus=f"corpus{i}") for i in range(4)}
    backwards = dict(reversed(lists.items()))
    assert (await fuse(lists))["candidates"] == (await fuse(backwards))["candidates"]


async def test_dropped_sources_do_not_come_back() -> None:
    update = await fuse({"d": ranked(("a", 0.9), ("b", 0.8))}, excluded_ids=["a"])
    assert [c["chunk_id"] for c in update["candidates"]] == ["b"]


async def test_raw_lists_leave_the_state_and_their_heads_stay_in_the_trace() -> None:
    update = await fuse({"d": ranked(*[(f"c{i:02d}", 1 - i / 100) for i in range(30)])})
    assert update["ranked_lists"].value == {}
    [head] = update["query_trace"]
    assert (head["query"], head["method"], len(head["ranked"])) == ("leave?", "dense", 10)


async def test_nothing_found_is_no_error_but_all_failed_is() -> None:
    assert (await fuse({}))["candidates"] == []
    failures = {"k": SearchFailure(query="leave?", corpus="handbook", error="OSError: disk")}
    with pytest.raises(SearchFailed, match="disk"):
        await fuse({}, search_failures=failures)
    kept = await fuse({}, search_failures=failures, best={"round": 0})
    assert kept["candidates"] == [], "a draft of an earlier round is still there to return"
    partly = await fuse({"d": ranked(("a", 0.9))}, search_failures=failures)
    assert [c["chunk_id"] for c in partly["candidates"]] == ["a"]


class LastFirst:
    """A reranker that turns the order around."""

    name = "last-first"

    def rerank(self, question: str, chunks: Any, sentences: Any) -> Any:
        return np.arange(len(chunks), dtype=float)


async def rerank(reader: Any = None, settings: dict[str, Any] | None = None, **changes: Any) -> list[str]:
    state = turn(candidates=[candidate("a", 0.3), candidate("b", 0.2), candidate("c", 0.1)], **changes)
    update = await rerank_chunks(
        state,
        runtime(**(settings or {})),
        {},
        reader=reader or ChunkReader(),
        reranker=LastFirst(),
        workers=InlineWorkers(),  # type: ignore[arg-type]
    )
    return [c["chunk_id"] for c in update["candidates"]]


async def test_reranking_reorders_unless_it_is_off_or_simple() -> None:
    assert await rerank() == ["c", "b", "a"]
    assert await rerank(settings={"enable_reranking": False}) == ["a", "b", "c"]
    assert await rerank(analysis={"strategy": "simple"}) == ["a", "b", "c"]


async def test_the_trace_keeps_the_best_passage_of_each_document() -> None:
    twice = [candidate("a", 0.3), {**candidate("b", 0.2), "document_uri": "a.md"}, candidate("c", 0.1)]
    reader = ChunkReader(same_document=frozenset({"b"}))
    state = turn(candidates=twice, analysis={"strategy": "simple"})
    update = await rerank_chunks(state, runtime(), {}, reader=reader, reranker=LastFirst(), workers=InlineWorkers())  # type: ignore[arg-type]
    assert [c["chunk_id"] for c in update["candidates"]] == ["a", "b", "c"]
    assert [c["chunk_id"] for c in update["ranked_trace"]] == ["a", "c"]


async def test_a_widened_context_keeps_the_cap() -> None:
    settings = {"max_top_k": 12}
    assert len(await assemble(settings=settings, candidates=many(20), correction="widen")) == 12


async def test_a_chunk_that_left_the_store_leaves_the_candidates() -> None:
    assert await rerank(ChunkReader(gone=frozenset({"c"}))) == ["b", "a"]


async def assemble(reader: Any = None, settings: dict[str, Any] | None = None, **changes: Any) -> list[dict[str, Any]]:
    update = await assemble_context(
        turn(**changes),
        runtime(**(settings or {})),
        {},
        reader=reader or ChunkReader(),
        workers=InlineWorkers(),  # type: ignore[arg-type]
    )
    return update["passages"]


def many(count: int) -> list[Any]:
    return [candidate(f"c{i:02d}", 1 - i / 100) for i in range(count)]


@pytest.mark.parametrize(
    ("settings", "strategy", "expected"),
    [
        ({}, "standard", 10),
        ({}, "simple", 3),
        ({"top_k": 7}, "simple", 7),
        ({"top_k": 7, "max_top_k": 5}, "standard", 5),
    ],
)
async def test_how_many_passages_reach_the_generator(settings: Any, strategy: str, expected: int) -> None:
    passages = await assemble(settings=settings, candidates=many(20), analysis={"strategy": strategy})
    assert [p["number"] for p in passages] == list(range(1, expected + 1))


async def test_each_chunk_stands_once_in_order_of_relevance_without_the_excluded() -> None:
    passages = await assemble(candidates=[*many(3), *many(3)], excluded_ids=["c01"])
    assert [p["chunk_id"] for p in passages] == ["c00", "c02"]


async def test_the_token_budget_counts_the_whole_prompt() -> None:
    long = ChunkReader(texts={f"c{i:02d}": "word " * 600 for i in range(10)})
    assert len(await assemble(long, {"max_context_tokens": 2000}, candidates=many(10))) == 1
    assert len(await assemble(long, {"max_context_tokens": 8000}, candidates=many(10))) == 8


async def test_a_question_that_leaves_no_room_is_told() -> None:
    state = {"request": {**turn()["request"], "question": "why " * 2000}}
    with pytest.raises(InvalidRequest, match="max_context_tokens"):
        await assemble(settings={"max_context_tokens": 1000}, candidates=many(1), **state)


async def test_near_identical_text_of_two_documents_keeps_both() -> None:
    twins = ChunkReader(texts={"c00": "Same text.", "c01": "Same text."})
    assert [p["uri"] for p in await assemble(twins, candidates=many(2))] == ["c00.md", "c01.md"]


async def expand(reader: ChunkReader, correction: str) -> Any:
    state = turn(passages=[passage(1), passage(2)], correction=correction, candidates=many(3), excluded_ids=["bad"])
    return await expand_context(state, {}, reader=reader, workers=InlineWorkers())  # type: ignore[arg-type]


async def test_expansion_adds_what_stands_around_without_the_dropped() -> None:
    update = await expand(ChunkReader(beside=[candidate("new"), candidate("c1"), candidate("bad")]), "neighbours")
    assert [c["chunk_id"] for c in update["candidates"]] == ["c1", "c2", "new"]
    assert (update["round"], update["correction"], update["corrections_tried"]) == (1, "neighbours", ["neighbours"])


async def test_nothing_around_widens_in_the_same_round() -> None:
    update = await expand(ChunkReader(beside=[candidate("c1")]), "neighbours")
    assert (update["round"], update["correction"], update["corrections_tried"]) == (1, "widen", ["neighbours", "widen"])


async def test_dropping_renumbers_what_is_left() -> None:
    state = turn(passages=[passage(1), passage(2), passage(3)], verdict=verdict(invalid_chunk_ids=["c2"]))
    update = await drop_invalid_sources(state)
    assert [(p["number"], p["chunk_id"]) for p in update["passages"]] == [(1, "c1"), (2, "c3")]
    assert (update["excluded_ids"], update["round"]) == (["c2"], 1)


async def test_siblings_of_a_slow_branch_stand() -> None:
    workers = WorkerPool(4)
    slow = SearchTask(**{**TASK, "corpus": "slow", "timeout_s": 0.05})
    results = await asyncio.gather(
        search_corpus(slow, {}, searcher=Searcher([], block_s=0.4), workers=workers),  # type: ignore[arg-type]
        search_corpus(TASK, {}, searcher=Searcher([ranked(("a", 0.9))]), workers=workers),  # type: ignore[arg-type]
    )
    assert [bool(r["search_failures"]) for r in results] == [True, False]
    assert results[1]["ranked_lists"]
    workers.close()
