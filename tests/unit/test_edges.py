"""The routers: pure functions of the state they read."""

from typing import Any

import pytest

from citeloop.graph.edges import (
    fan_out_searches,
    route_after_assemble_context,
    route_after_compose_response,
    route_after_drop_invalid_sources,
    route_after_expand_context,
    route_after_generate_answer,
    route_after_validate_citations,
)
from citeloop.state.graph_state import CheckedDraft, Passage, QueryState, SearchTask


def passage(chunk_id: str) -> Passage:
    return {"chunk_id": chunk_id}  # type: ignore[typeddict-item]


def best_with(*chunk_ids: str) -> CheckedDraft:
    return {"passages": [passage(chunk_id) for chunk_id in chunk_ids]}  # type: ignore[typeddict-item]


async def test_one_branch_per_task() -> None:
    tasks: list[SearchTask] = [{"corpus": name} for name in ("a", "b")]  # type: ignore[typeddict-item]
    sends = await fan_out_searches({"search_tasks": tasks})
    assert [(send.node, send.arg["corpus"]) for send in sends] == [("search_corpus", "a"), ("search_corpus", "b")]  # type: ignore[union-attr]


async def test_no_search_is_the_refusal_not_a_silent_end() -> None:
    assert await fan_out_searches({"search_tasks": []}) == "refuse_answer"


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
    assert await route_after_drop_invalid_sources({"passages": []}) == "plan_searches"
    assert await route_after_drop_invalid_sources({"passages": [passage("a")]}) == "generate_answer"


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
    assert await route_after_expand_context({"correction": "neighbours"}) == "assemble_context"
    assert await route_after_expand_context({"correction": "widen"}) == "plan_searches"
