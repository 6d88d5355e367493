"""The routers of ``exhaustive`` where a model reads the passages in groups and combines what it noted; see ``edges``.

Map and reduce (Dean and Ghemawat 2004): one branch a group, then one draft of all partial answers.
"""

from collections.abc import Iterable
from typing import Literal

from langgraph.types import Send

from citeloop.state.graph_state import GroupedCandidate, MapTask, QueryState
from citeloop.verification.sub_answers import best_of_rounds


async def fan_out_groups(state: QueryState) -> list[Send] | Literal["assemble_context", "compose_response"]:
    """One branch per group; one prompt where it holds the passages; a correction with nothing to read ends."""
    plan = state["map_plan"]
    if plan is None or plan["decision"] == "single":
        return "assemble_context"
    return [Send("map_group", task) for task in plan["tasks"]] or "compose_response"


async def route_after_gather_partial_answers(
    state: QueryState,
) -> Literal["generate_answer", "validate_citations", "assemble_context", "compose_response"]:
    """Combine the partial answers, unless a wider search brought none that was not there before; where none was found,
    the draft is a refusal already, or one prompt is to do."""
    if state["partial_answers"]:
        is_wider = state["best"] is not None and state["correction"] != "drop"
        return "compose_response" if is_wider and not has_fresh_passages(state) else "generate_answer"
    plan = state["map_plan"]
    return "validate_citations" if plan and plan["decision"] == "map" else "assemble_context"


def groups_to_reread(state: QueryState) -> list[Send]:
    """A branch for each group whose partial answer cites a chunk that was dropped, without what was dropped."""
    excluded = set(state["excluded_ids"])
    citing = [
        group
        for group in best_of_rounds(state["mapped"].values())
        if any(passage["chunk_id"] in excluded for passage in group["passages"])
    ]
    return [
        Send(
            "map_group",
            MapTask(
                key=group["key"],
                round=state["round"],
                groups=len(citing),
                candidates=_without(group["candidates"], excluded),
                room=group["room"],
                request=state["request"],
            ),
        )
        for group in citing
    ]


def has_fresh_passages(state: QueryState) -> bool:
    """Whether the context holds what did not stand before the best draft so far."""
    best = state["best"]
    seen = {passage["chunk_id"] for passage in best["passages"]} if best else set()
    return any(passage["chunk_id"] not in seen for passage in state["passages"])


def _without(candidates: Iterable[GroupedCandidate], excluded: set[str]) -> list[GroupedCandidate]:
    return [candidate for candidate in candidates if not excluded.intersection(candidate["members"])]
