"""The nodes of the two loops that search again, one by one: coverage, follow-ups, grades."""

import time
from typing import Any

import numpy as np
import pytest

from citeloop.graph.hop_edges import (
    route_after_ask_follow_up,
    route_after_check_coverage,
    route_after_fuse_results,
    route_after_grade_passages,
    route_after_rerank_chunks,
)
from citeloop.nodes.check_coverage import check_coverage
from citeloop.nodes.grade_passages import grade_passages
from citeloop.nodes.rerank_follow_ups import rerank_follow_ups
from citeloop.state.graph_state import Query, QueryState
from tests.unit.graph_fakes import ChunkReader, InlineWorkers, candidate, request, runtime, turn

QUESTION = "How long is parental leave?"
ANSWER, OTHER = "Parental leave is long.", "Badges are yellow."
FOLLOW_UP: Query = {"text": "Ann leave", "origin": "follow_up", "hop": 1, "about": "Ann", "strength": 0.5}


def analysis(strategy: str) -> dict[str, Any]:
    return {"intent": "factual", "estimated_complexity": 0.1, "strategy": strategy, "reason": "test"}


def hopping(**changes: Any) -> QueryState:
    base = {"analysis": analysis("multi_hop"), "request": request(QUESTION, started_at=time.time())}
    return turn(**{**base, **changes})


class Grader:
    """Gives each chunk the logit told, 0 where none is."""

    name = "grader"

    def __init__(self, **logits: float) -> None:
        self.logits = logits
        self.questions: list[str] = []

    def rerank(self, question: str, chunks: Any, sentences: Any) -> Any:
        self.questions.append(question)
        return np.array([self.logits.get(chunk.id, 0.0) for chunk in chunks])


async def covered(state: QueryState, **settings: Any) -> tuple[str, list[str], str]:
    reader = ChunkReader({"a": ANSWER, "b": OTHER})
    update = await check_coverage(state, runtime(**settings), {}, reader=reader, workers=InlineWorkers())  # type: ignore[arg-type]
    hop = update["trace"]["hops"][-1]
    return update["coverage"]["decision"], update["coverage"]["open"], hop["note"]


async def test_a_question_is_covered_when_good_passages_hold_its_words() -> None:
    decision, still_open, note = await covered(hopping(candidates=[candidate("a", 0.9)]))
    assert (decision, still_open) == ("stop", [])
    assert "every word" in note


@pytest.mark.parametrize(("chunk", "score"), [("a", 0.6), ("b", 0.9)], ids=["not good enough", "about other things"])
async def test_what_no_good_passage_holds_is_open(chunk: str, score: float) -> None:
    decision, still_open, note = await covered(hopping(candidates=[candidate(chunk, score)]))
    assert decision == "search"
    assert "parental" in still_open
    assert "parental" in note


async def test_it_stops_when_hops_or_time_are_used_up_or_nothing_new_came() -> None:
    found = [candidate("b", 0.9)]
    assert (await covered(hopping(candidates=found, hop=2)))[::2] == ("stop", "the limit of 3 hops is reached")
    assert (await covered(hopping(candidates=found), max_hops=1))[0] == "stop"
    late = request(QUESTION, started_at=time.time() - 60)
    assert (await covered(hopping(candidates=found, request=late)))[::2] == ("stop", "the time is used up")
    same = {"decision": "search", "open": [], "best_ids": ["b"]}
    assert "no better passage" in (await covered(hopping(candidates=found, hop=1, coverage=same)))[2]
    assert (await covered(hopping(candidates=[])))[0] == "search"


async def test_follow_ups_rank_by_their_own_question_and_the_best_score_stands() -> None:
    fresh = [{**candidate(name, 0.0), "origin": "follow_up", "query": "Ann leave"} for name in ("b", "c")]
    state = hopping(hop=1, queries=[FOLLOW_UP], candidates=[candidate("a", 0.8), candidate("b", 0.01), *fresh])
    grader = Grader(b=9.0, c=-9.0)
    update = await rerank_follow_ups(state, {}, reader=ChunkReader(), reranker=grader, workers=InlineWorkers())  # type: ignore[arg-type]
    assert grader.questions == ["Ann leave"]
    assert [one["chunk_id"] for one in update["candidates"]] == ["a", "b", "c"]
    assert 0.01 < update["candidates"][1]["score"] < 0.5, "no more than the trust in what led there"


async def grade(state: QueryState, grader: Grader, **settings: Any) -> tuple[str, dict[str, Any]]:
    update = await grade_passages(
        state,
        runtime(**settings),
        {},
        reader=ChunkReader(),  # type: ignore[arg-type]
        reranker=grader,
        workers=InlineWorkers(),  # type: ignore[arg-type]
    )
    return update["grading"]["decision"], update["trace"]["grading"][-1]


def graded(score: float, **changes: Any) -> QueryState:
    asked = request(QUESTION, started_at=time.time())
    return turn(candidates=[candidate("a", score)], ranked_by="grader", request=asked, **changes)


async def test_good_passages_go_on_without_another_look() -> None:
    grader = Grader()
    decision, told = await grade(graded(0.7), grader)
    assert (decision, told["good"], grader.questions) == ("generate", 1, [])


async def test_without_a_good_one_the_question_is_rewritten_once() -> None:
    assert (await grade(graded(0.69), Grader(), corrective_retrieval="off"))[0] == "generate"
    assert (await grade(graded(0.69), Grader(), corrective_retrieval="retry"))[0] == "rewrite"
    assert (await grade(graded(0.69, hop=1), Grader(), corrective_retrieval="retry"))[0] == "generate"
    assert (await grade(graded(0.69), Grader(), corrective_retrieval="refuse"))[0] == "rewrite"
    assert (await grade(graded(0.69, hop=1), Grader(), corrective_retrieval="refuse"))[0] == "refuse"
    assert (await grade(graded(0.8, hop=1), Grader(), corrective_retrieval="refuse"))[0] == "generate"


async def test_what_was_not_reranked_is_graded_here() -> None:
    state: QueryState = {**graded(0.01), "ranked_by": "fused rank"}
    grader = Grader(a=5.0)
    decision, told = await grade(state, grader, corrective_retrieval="retry")
    assert (decision, grader.questions) == ("generate", [QUESTION])
    assert told["best"] > 0.99


def fused_in(hop: int, *queries: Query) -> QueryState:
    return {"hop": hop, "queries": list(queries)}


async def test_the_routers_follow_the_hop() -> None:
    question: Query = {"text": QUESTION, "origin": "question"}
    assert await route_after_fuse_results(fused_in(0, question)) == "rerank_chunks"
    assert await route_after_fuse_results(fused_in(1, question, FOLLOW_UP)) == "rerank_follow_ups"
    assert await route_after_fuse_results(fused_in(0, question, FOLLOW_UP)) == "rerank_chunks", "a later round"
    rewrite: Query = {"text": "leave weeks", "origin": "rewrite", "hop": 1}
    assert await route_after_fuse_results(fused_in(1, question, rewrite)) == "rerank_chunks"
    assert await route_after_ask_follow_up(fused_in(1, question, FOLLOW_UP)) == "plan_searches"
    assert await route_after_ask_follow_up(fused_in(2, question, FOLLOW_UP)) == "walk_entities"
    assert await route_after_rerank_chunks(hopping()) == "check_coverage"
    assert await route_after_rerank_chunks(turn()) == "grade_passages"
    assert await route_after_rerank_chunks(hopping(round=1)) == "walk_entities"
    assert await route_after_check_coverage({"coverage": None}) == "walk_entities"
    assert await route_after_grade_passages({"grading": None}) == "assemble_context"
