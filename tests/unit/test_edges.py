"""The routers: pure functions of the state they read."""

from typing import Any

import pytest

from citeloop.graph.edges import (
    fan_out_scan,
    fan_out_searches,
    route_after_analyze_query,
    route_after_assemble_context,
    route_after_compose_response,
    route_after_decompose_question,
    route_after_drop_invalid_sources,
    route_after_expand_context,
    route_after_gather_sub_answers,
    route_after_generate_answer,
    route_after_validate_citations,
)
from citeloop.graph.hop_edges import route_after_rerank_chunks
from citeloop.state.graph_state import CheckedDraft, Passage, Query, QueryState, SearchTask

ASKED: Query = {"text": "How much, and who pays?", "origin": "question"}
PARTS: list[Query] = [{"text": text, "origin": "sub_question"} for text in ("How much?", "Who pays?", "When?")]


def passage(chunk_id: str) -> Passage:
    return {"chunk_id": chunk_id}  # type: ignore[typeddict-item]


def running(strategy: str, state: QueryState) -> QueryState:
    return {**state, "analysis": {"strategy": strategy}}  # type: ignore[typeddict-item]


def best_with(*chunk_ids: str) -> CheckedDraft:
    return {"passages": [passage(chunk_id) for chunk_id in chunk_ids]}  # type: ignore[typeddict-item]


async def test_one_branch_per_task() -> None:
    tasks: list[SearchTask] = [{"corpus": name} for name in ("a", "b")]  # type: ignore[typeddict-item]
    sends = await fan_out_searches({"search_tasks": tasks})
    assert [(send.node, send.arg["corpus"]) for send in sends] == [("search_corpus", "a"), ("search_corpus", "b")]  # type: ignore[union-attr]


async def test_no_search_is_the_refusal_not_a_silent_end() -> None:
    assert await fan_out_searches({"search_tasks": []}) == "refuse_answer"


async def test_one_branch_per_shard_and_none_is_the_refusal() -> None:
    tasks: list[SearchTask] = [{"corpus": "a", "shard": 0}, {"corpus": "a", "shard": 1}]  # type: ignore[typeddict-item, typeddict-unknown-key]
    sends = await fan_out_scan({"search_tasks": tasks})
    assert [(send.node, send.arg["shard"]) for send in sends] == [("scan_shard", 0), ("scan_shard", 1)]  # type: ignore[union-attr]
    assert await fan_out_scan({"search_tasks": []}) == "refuse_answer"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"best": None, "passages": []}, "refuse_answer"),
        ({"best": None, "passages": [passage("a")]}, "generate_answer"),
        ({"best": best_with("a"), "passages": [passage("a"), passage("b")]}, "generate_answer"),
        ({"best": best_with("a", "b"), "passages": [passage("b")]}, "compose_response"),
        ({"best": best_with("a"), "passages": []}, "compose_response"),
    ],
)
async def test_generation_needs_evidence_and_a_further_round_fresh_evidence(state: QueryState, expected: str) -> None:
    assert await route_after_assemble_context(state) == expected


async def test_a_failed_correction_returns_what_is_there() -> None:
    assert await route_after_generate_answer({"model_failure": "model_timeout: ..."}) == "compose_response"
    assert await route_after_generate_answer({"model_failure": ""}) == "validate_citations"


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        ("none", "compose_response"),
        ("drop", "drop_invalid_sources"),
        ("neighbours", "expand_context"),
        ("widen", "expand_context"),
    ],
)
async def test_the_correction_decides_after_validation(correction: str, expected: str) -> None:
    assert await route_after_validate_citations({"correction": correction}) == expected  # type: ignore[typeddict-item]


async def test_nothing_left_after_dropping_searches_again() -> None:
    state: QueryState = {"queries": [ASKED], "passages": []}
    assert await route_after_drop_invalid_sources(running("standard", state)) == "plan_searches"
    assert await route_after_drop_invalid_sources(running("exhaustive", state)) == "plan_scan"
    assert await route_after_drop_invalid_sources({"queries": [ASKED], "passages": [passage("a")]}) == "generate_answer"


@pytest.mark.parametrize(
    ("review", "status", "expected"),
    [
        ("off", "low_confidence", "audit_response"),
        ("low_confidence", "low_confidence", "review_answer"),
        ("low_confidence", "answered", "audit_response"),
        ("always", "answered", "review_answer"),
        ("always", "low_confidence", "review_answer"),
        ("always", "no_evidence", "audit_response"),
    ],
)
async def test_a_person_decides_where_that_is_asked_for(review: str, status: str, expected: str) -> None:
    state: Any = {"request": {"review": review}, "checked_response": {"status": status}}
    assert await route_after_compose_response(state) == expected


async def test_expansion_assembles_or_searches_wider() -> None:
    assert await route_after_expand_context({"queries": [ASKED], "correction": "neighbours"}) == "assemble_context"
    state: QueryState = {"queries": [ASKED], "correction": "widen"}
    assert await route_after_expand_context(running("standard", state)) == "plan_searches"
    assert await route_after_expand_context(running("exhaustive", state)) == "plan_scan"


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("simple", "plan_searches"),
        ("exhaustive", "plan_scan"),
        ("standard", "plan_searches"),
        ("rag_fusion", "rewrite_query"),
        ("step_back", "ask_step_back"),
        ("sub_questions", "decompose_question"),
    ],
)
async def test_the_strategy_decides_who_makes_the_queries(strategy: str, expected: str) -> None:
    assert await route_after_analyze_query({"analysis": {"strategy": strategy}}) == expected  # type: ignore[typeddict-item]


def split(*parts: dict[str, Any], **changes: Any) -> Any:
    return {
        "queries": PARTS,
        "round": 1,
        "correction": "widen",
        "excluded_ids": ["bad"],
        "request": {"question": "all"},
        "sub_answers": [{"found": True, "passed": True, "citations": [], **part} for part in parts],
        "passages": [],
        **changes,
    }


def asked(sends: Any) -> list[str]:
    assert {send.node for send in sends} == {"research_sub_question"}
    return [send.arg["sub_question"] for send in sends]


async def test_one_branch_per_sub_question_or_one_search_of_the_question() -> None:
    sends = await route_after_decompose_question(split())
    assert asked(sends) == ["How much?", "Who pays?", "When?"]
    assert sends[2].arg == {  # type: ignore[union-attr]
        "key": "02",
        "sub_question": "When?",
        "origin": "sub_question",
        "round": 1,
        "correction": "widen",
        "excluded_ids": ["bad"],
        "request": {"question": "all"},
    }
    assert await route_after_decompose_question({"queries": [ASKED]}) == "plan_searches"


async def test_sub_answers_are_combined_where_there_is_one() -> None:
    assert await route_after_gather_sub_answers(split({"found": False}, {})) == "combine_sub_answers"
    assert await route_after_gather_sub_answers(split({"found": False})) == "validate_citations"


async def test_expansion_happens_in_the_parts_that_need_it() -> None:
    weak, missing = {"passed": False}, {"found": False, "passed": False}
    assert asked(await route_after_expand_context(split({}, weak, missing))) == ["Who pays?", "When?"]
    assert await route_after_expand_context(split({}, {}, {})) == "compose_response"


async def test_parts_that_cite_what_was_dropped_are_answered_anew() -> None:
    citing = {"citations": [{"source_chunk_id": "bad"}]}
    assert asked(await route_after_drop_invalid_sources(split({}, citing, {}))) == ["Who pays?"]
    assert await route_after_drop_invalid_sources(split({}, {}, {})) == "gather_sub_answers"


@pytest.mark.parametrize(
    ("strategy", "expected", "corrected"),
    [
        ("graph", "walk_entities", "walk_entities"),
        ("exhaustive", "diversify_chunks", "diversify_chunks"),
        ("multi_hop", "check_coverage", "walk_entities"),
        ("standard", "grade_passages", "assemble_context"),
    ],
)
async def test_what_was_found_goes_on_as_its_strategy_has_it(strategy: str, expected: str, corrected: str) -> None:
    state: Any = {"analysis": {"strategy": strategy}, "round": 0}
    assert await route_after_rerank_chunks(state) == expected
    assert await route_after_rerank_chunks({**state, "round": 1}) == corrected
