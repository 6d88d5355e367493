"""Whether the passages of a full scan fit one prompt; if not, the groups in which they are read."""

import functools
import time
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.candidate_ranking import distinct
from citeloop.retrieval.partial_answer_prompt import combined_room, group_budget, room_for_each
from citeloop.retrieval.passage_groups import Group, PassageGroups
from citeloop.retrieval.passages import PassageReader
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Candidate, GroupedCandidate, MapPlan, MapTask, QueryState
from citeloop.state.models import UserContext
from citeloop.workers import WorkerPool

_FEWEST = 2
"""Groups: fewer are no map."""


class Grouped(TypedDict):
    """The plan of this round; its draft is not combined from partial answers until there are some."""

    map_plan: MapPlan
    partial_answers: list[str]
    trace: dict[str, Any]


async def group_passages(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    reader: PassageReader,
    workers: WorkerPool,
    takes_notes: bool,
) -> Grouped:
    """Plan a map over the passages where one prompt does not hold them and the model ``takes_notes`` (the offline one
    only quotes); a correction reads those alone that no group has read yet.

    ``map_calls`` groups at the most, and none once ``latency_budget_ms`` has passed.
    """
    settings = run_config(runtime.context, state["request"])
    if reason := _reason_for_one_prompt(state, settings, takes_notes):
        plan = MapPlan(decision="single", reason=reason, tasks=[])
    else:
        plan = await workers.run(_plan, state, settings, reader, caller_of(config))
    trace: dict[str, Any] = {
        "grouping": {"decision": plan["decision"], "reason": plan["reason"], "groups": len(plan["tasks"])}
    }
    if plan["decision"] == "single" and "map" in state["trace"]:
        trace["map"] = {"groups": [], "combined": 0}  # what an earlier round mapped is no part of this draft
    return Grouped(map_plan=plan, partial_answers=[], trace=trace)


def _reason_for_one_prompt(state: QueryState, settings: RAGConfig, takes_notes: bool) -> str:
    if not takes_notes:
        return "no chat model is configured"
    if settings.map_calls < _FEWEST:
        return f"map_calls is {settings.map_calls}"
    elapsed_ms = 1000 * (time.time() - state["request"]["started_at"])
    return "latency_budget_ms has passed" if elapsed_ms >= settings.latency_budget_ms else ""


def _plan(state: QueryState, settings: RAGConfig, reader: PassageReader, caller: UserContext) -> MapPlan:
    chosen = {candidate["chunk_id"]: candidate for candidate in _choose(state, settings)}
    chunks, _ = reader.read_with_sentences(chosen.values(), caller)
    there = [chunks[chunk_id] for chunk_id in chosen if chunk_id in chunks]
    budget = group_budget(state["request"], settings)
    cut = functools.partial(
        PassageGroups(reader).cut, there, settings.context_unit, budget, caller=caller, most=settings.map_calls
    )
    groups = cut(excluded=state["excluded_ids"])
    if len(groups) < _FEWEST:
        return MapPlan(decision="single", reason="one prompt holds the passages", tasks=[])
    if read := _read_before(state):
        groups = cut(excluded=[*state["excluded_ids"], *read])
    if not groups:
        return MapPlan(decision="stop", reason="all passages were read before", tasks=[])
    tasks = _tasks(groups, chosen, state, settings)
    return MapPlan(decision="map", reason="one prompt does not hold the passages", tasks=tasks)


def _choose(state: QueryState, settings: RAGConfig) -> list[Candidate]:
    excluded = set(state["excluded_ids"])
    chosen = distinct(candidate for candidate in state["candidates"] if candidate["chunk_id"] not in excluded)
    if state["correction"] == "neighbours":  # what was cited and what stands around it: nothing to cut
        return chosen
    return chosen[: settings.passages_mapped(widened=state["correction"] == "widen")]


def _read_before(state: QueryState) -> set[str]:
    """Chunks of the groups that earlier rounds read; those of a group that dropped out are still to be read."""
    results = [result for result in state["mapped"].values() if not result["error"]]
    return {member for result in results for one in result["candidates"] for member in one["members"]}


def _tasks(
    groups: Sequence[Group], chosen: Mapping[str, Candidate], state: QueryState, settings: RAGConfig
) -> list[MapTask]:
    others = len(state["mapped"]) or 1  # one share stays free for what a correction finds
    room = room_for_each(combined_room(state, settings), len(groups) + others, settings)
    return [
        MapTask(
            key=f"{state['round']:02d}.{number:02d}",
            round=state["round"],
            groups=len(groups),
            candidates=[GroupedCandidate(**{**chosen[one.chunk.id], "members": one.members}) for one in group],
            room=room,
            request=state["request"],
        )
        for number, group in enumerate(groups)
    ]
