"""The routers of the map: where its groups go, and where what was gathered goes."""

from typing import Any

import pytest

from citeloop.graph.edges import route_after_drop_invalid_sources, route_after_expand_context
from citeloop.graph.map_edges import fan_out_groups, route_after_gather_partial_answers
from citeloop.state.graph_state import QueryState

ASKED: Any = [{"text": "What do the teams do?", "origin": "question"}]


def planned(decision: str, *keys: str) -> Any:
    return {"decision": decision, "reason": "", "tasks": [{"key": key} for key in keys]}


def holding(*chunk_ids: str) -> Any:
    return {"passages": [{"chunk_id": chunk_id} for chunk_id in chunk_ids]}


async def test_one_branch_per_group_or_one_prompt_or_the_end() -> None:
    sends = await fan_out_groups({"map_plan": planned("map", "00.00", "00.01")})
    assert [(send.node, send.arg["key"]) for send in sends] == [("map_group", "00.00"), ("map_group", "00.01")]  # type: ignore[union-attr]
    assert await fan_out_groups({"map_plan": planned("single")}) == "assemble_context"
    assert await fan_out_groups({"map_plan": planned("stop")}) == "compose_response", "no list of Sends is empty"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"partial_answers": ["x"], "best": None}, "generate_answer"),
        ({"partial_answers": [], "best": None, "map_plan": planned("map")}, "validate_citations"),
        ({"partial_answers": [], "best": None, "map_plan": planned("single")}, "assemble_context"),
        (
            {"partial_answers": ["x"], "best": holding("a"), "correction": "widen", **holding("a", "b")},
            "generate_answer",
        ),
        (
            {"partial_answers": ["x"], "best": holding("a", "b"), "correction": "widen", **holding("a")},
            "compose_response",
        ),
        (
            {"partial_answers": ["x"], "best": holding("a", "b"), "correction": "drop", **holding("a")},
            "generate_answer",
        ),
    ],
)
async def test_what_was_gathered_is_combined_refused_or_read_in_one_prompt(state: QueryState, expected: str) -> None:
    assert await route_after_gather_partial_answers(state) == expected


def group(key: str, cited: str, *read: str) -> Any:
    return {
        "key": key,
        "round": 0,
        "verdict": {"citations": []},
        "passages": [{"chunk_id": cited}],
        "candidates": [{"chunk_id": name, "members": [name, f"{name}'"]} for name in read],
        "room": 77,
    }


async def test_groups_that_cite_what_was_dropped_are_read_again_without_it() -> None:
    state: Any = {
        "queries": ASKED,
        "partial_answers": ["x", "y"],
        "excluded_ids": ["b", "c'"],
        "mapped": {"00|00.00": group("00.00", "a", "a"), "00|00.01": group("00.01", "b", "b", "c", "d")},
        "round": 1,
        "request": {"question": "all"},
        **holding("a"),
    }
    (send,) = await route_after_drop_invalid_sources(state)  # type: ignore[misc]
    assert send.node == "map_group"
    assert (send.arg["key"], send.arg["round"], send.arg["groups"], send.arg["room"]) == ("00.01", 1, 1, 77)
    assert [one["chunk_id"] for one in send.arg["candidates"]] == ["d"], "a passage goes with any of its chunks"
    state["mapped"].pop("00|00.01")
    assert await route_after_drop_invalid_sources(state) == "gather_partial_answers"


async def test_what_stands_around_the_passages_of_a_full_scan_is_grouped_too() -> None:
    state: QueryState = {"queries": ASKED, "correction": "neighbours", "map_plan": planned("map")}
    assert await route_after_expand_context(state) == "group_passages"
