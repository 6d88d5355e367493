"""The merge of what search found and what the walk found, and the node around it."""

from typing import Any

import numpy as np
import pytest

from citeloop.nodes.walk_entities import walk_entities
from citeloop.retrieval.entity_fusion import entities_of, fuse_walk
from citeloop.retrieval.entity_walk import Walk
from citeloop.state.models import UserContext
from tests.unit.graph_fakes import ChunkReader, InlineWorkers, candidate, runtime, turn


def walk(named: list[str], reached: list[str]) -> Walk:
    ids = dict.fromkeys([*named, *reached])
    return Walk(named, reached, dict.fromkeys(ids, "handbook"), {id_: [f"of {id_}"] for id_ in ids})


class FakeWalker:
    def __init__(self, result: Walk | Exception) -> None:
        self.result, self.calls = result, []

    def walk(self, question: str, found: Any, corpora: Any, caller: UserContext, bounds: Any) -> Walk:
        self.calls.append((question, [c["chunk_id"] for c in found], corpora, caller.user_id, bounds))
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class FixedReranker:
    name = "fixed"

    def rerank(self, question: str, chunks: Any, sentences: Any) -> Any:
        return np.zeros(len(chunks))


async def walked(walker: FakeWalker, settings: Any = None, reader: ChunkReader | None = None, **state: Any) -> Any:
    parts: Any = {"walker": walker, "reader": reader or ChunkReader(), "reranker": FixedReranker()}
    return await walk_entities(turn(**state), runtime(**settings or {}), {}, **parts, workers=InlineWorkers())


def order(found: list[str], named: list[str], reached: list[str], weight: float = 0.6) -> list[str]:
    searched = [candidate(id_) for id_ in found]
    added = [candidate(id_) for id_ in dict.fromkeys([*named, *reached]) if id_ not in found]
    return [c["chunk_id"] for c in fuse_walk(searched, added, walk(named, reached), weight)]


def test_search_has_six_tenths_and_the_walk_four() -> None:
    assert order(["a", "b", "c"], [], ["x", "y"]) == ["a", "b", "x", "c", "y"]
    assert order(["a", "b", "c"], [], ["x", "y"], weight=0.2) == ["x", "y", "a", "b", "c"]


def test_what_the_question_names_shares_the_part_of_search() -> None:
    assert order(["a", "n", "b"], ["n", "m"], ["x"]) == ["n", "x", "a", "m", "b"]


def test_without_a_walk_the_order_of_search_stands() -> None:
    assert order(["a", "b"], [], []) == ["a", "b"]
    assert order([], [], []) == []


def test_entities_are_told_with_what_they_led_to() -> None:
    assert entities_of(walk(["n"], ["x", "gone"]), [candidate("x"), candidate("a"), candidate("n")]) == {
        "of x": ["x"],
        "of n": ["n"],
    }


async def test_the_candidates_are_merged_and_scored_by_relevance() -> None:
    walker = FakeWalker(walk([], ["x", "a"]))
    update = await walked(walker, {"graph_hops": 1}, candidates=[candidate("a", 0.9)])
    scores = {c["chunk_id"]: (c["score"], c["document_uri"]) for c in update["candidates"]}
    assert scores == {"a": (0.9, "a.md"), "x": (0.5, "x.md")}
    assert update["ranked_trace"] == update["candidates"]
    assert update["trace"] == {"entities": {"of a": ["a"], "of x": ["x"]}}
    [(question, found, corpora, caller, bounds)] = walker.calls
    assert (question, found, corpora, caller) == ("How long is parental leave?", ["a"], None, "local")
    assert (bounds.hops, bounds.starts, bounds.hub, bounds.most) == (1, 4, 200, 20)


async def test_what_was_dropped_or_is_gone_does_not_come_back() -> None:
    reader = ChunkReader(gone=frozenset({"y"}))
    found = [candidate("a")]
    update = await walked(FakeWalker(walk(["n"], ["x", "y", "z"])), reader=reader, candidates=found, excluded_ids=["x"])
    assert {c["chunk_id"] for c in update["candidates"]} == {"a", "n", "z"}
    assert "of x" not in update["trace"]["entities"]


async def test_later_rounds_leave_the_ranking_of_the_first() -> None:
    update = await walked(FakeWalker(walk([], ["x"])), candidates=[candidate("a")], round=1)
    assert "ranked_trace" not in update


async def test_relations_of_an_earlier_round_do_not_stand_beside_the_entities_of_this_one() -> None:
    told = {"relations": {"A -part of-> B": ["gone"]}}
    update = await walked(FakeWalker(walk([], ["x"])), candidates=[candidate("a")], round=1, trace=told)
    assert update["trace"] == {"entities": {"of x": ["x"]}, "relations": {}}


@pytest.mark.parametrize("error", [OSError("no disk"), TimeoutError()])
async def test_a_walk_that_fails_is_recorded_and_drops_out(error: Exception) -> None:
    update = await walked(FakeWalker(error), candidates=[candidate("a")])
    assert update.keys() == {"search_failures"}
    [failure] = update["search_failures"].values()
    assert failure["error"].startswith(type(error).__name__)
