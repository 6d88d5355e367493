"""Passages found for a step-back question: ranked by it, behind the specific ones, and told apart."""

from typing import Any

import numpy as np

from citeloop.nodes.assemble_context import assemble_context
from citeloop.nodes.expand_context import expand_context
from citeloop.nodes.fuse_results import fuse_results
from citeloop.nodes.rerank_chunks import rerank_chunks
from citeloop.state.graph_state import Candidate, Query, RankedList
from tests.unit.graph_fakes import ChunkReader, InlineWorkers, candidate, passage, runtime, turn

ASKED, GENERAL = Query(text="leave?", origin="question"), Query(text="rules?", origin="step_back")
STRATEGY = {"strategy": "step_back"}


def ranked(query: Query, *ids: str) -> RankedList:
    return RankedList(query=query["text"], corpus="handbook", method="dense", hits=[(i, 0.5) for i in ids])


def found(origin: Any, *ids: str) -> list[Candidate]:
    return [{**candidate(chunk_id, 1 - number / 10), "origin": origin} for number, chunk_id in enumerate(ids)]


def told(members: Any) -> list[tuple[str, str]]:
    return [(member["chunk_id"], member["origin"]) for member in members]


def background_turn(**changes: Any) -> Any:
    return turn(queries=[ASKED, GENERAL], analysis=STRATEGY, **changes)


async def test_background_is_not_mixed_into_what_the_question_found() -> None:
    lists = {"0": ranked(ASKED, "a", "b"), "1": ranked(GENERAL, "c", "a")}
    task: Any = {"depth": 10}
    update = await fuse_results(background_turn(ranked_lists=lists, search_tasks=[task]), runtime())
    assert told(update["candidates"]) == [("a", "question"), ("b", "question"), ("a", "step_back"), ("c", "step_back")]
    assert {head["query"]: head["origin"] for head in update["query_trace"]} == {
        "leave?": "question",
        "rules?": "step_back",
    }


class Reranker:
    """Turns the order around, and keeps what it was asked."""

    name = "last-first"

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def rerank(self, question: str, chunks: Any, sentences: Any) -> Any:
        self.asked.append((question, [chunk.id for chunk in chunks]))
        return np.arange(len(chunks), dtype=float)


async def test_each_set_is_reranked_by_the_question_it_was_found_for() -> None:
    reranker = Reranker()
    state = background_turn(candidates=[*found("question", "a", "b"), *found("step_back", "c", "d")])
    state["request"]["question"] = "leave?"
    update = await rerank_chunks(state, runtime(), {}, reader=ChunkReader(), reranker=reranker, workers=InlineWorkers())  # type: ignore[arg-type]
    assert reranker.asked == [("leave?", ["a", "b"]), ("rules?", ["c", "d"])]
    assert [c["chunk_id"] for c in update["candidates"]] == ["b", "a", "d", "c"]


async def assemble(settings: dict[str, Any], **changes: Any) -> list[tuple[str, str]]:
    update = await assemble_context(
        background_turn(**changes),
        runtime(**settings),
        {},
        reader=ChunkReader(),
        workers=InlineWorkers(),  # type: ignore[arg-type]
    )
    return told(update["passages"])


async def test_a_passage_chosen_for_both_is_specific_and_background_has_a_share_of_its_own() -> None:
    both = [*found("question", "a", "b", "c"), *found("step_back", "a", "c", "d", "e")]
    chosen = await assemble({"default_top_k": 1, "background_top_k": 2}, candidates=both)
    assert chosen == [("a", "question"), ("c", "step_back"), ("d", "step_back")]
    assert await assemble({"top_k": 1}, candidates=both) == [("a", "question"), ("c", "step_back")]
    without = await assemble({"top_k": 1}, candidates=both, excluded_ids=["a", "c"])
    assert without == [("b", "question"), ("d", "step_back")]


async def test_expansion_keeps_background_and_adds_to_the_specific_alone() -> None:
    class Recording(ChunkReader):
        def around(self, candidates: list[Candidate], caller: Any) -> list[Candidate]:
            assert [c["chunk_id"] for c in candidates] == ["c1"]
            return [candidate("new")]

    state = background_turn(passages=[passage(1), {**passage(2), "origin": "step_back"}], correction="neighbours")
    update = await expand_context(state, {}, reader=Recording(), workers=InlineWorkers())  # type: ignore[arg-type]
    again = await assemble({}, candidates=update["candidates"], correction="neighbours")
    assert again == [("c1", "question"), ("new", "question"), ("c2", "step_back")]
