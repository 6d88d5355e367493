"""The branches of the map brought together: what their answer is combined from, under one numbering of its passages."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.prompts.multi_query import render_partial_answers
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER
from citeloop.retrieval.context_budget import fit_in_budget
from citeloop.retrieval.partial_answer_prompt import combined_room
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Draft, MappedGroup, MapPlan, Passage, QueryState
from citeloop.text.tokens import count_tokens
from citeloop.verification.partial_answers import combine_groups
from citeloop.verification.sub_answers import best_of_rounds
from citeloop.workers import WorkerPool


class GatheredPartials(TypedDict, total=False):
    """The partial answers and what they cite; ``draft`` where there is none, ``map_plan`` where one prompt is to do."""

    partial_answers: list[str]
    passages: list[Passage]
    draft: Draft
    map_plan: MapPlan
    trace: dict[str, Any]


async def gather_partial_answers(
    state: QueryState, runtime: Runtime[RAGConfig], *, workers: WorkerPool
) -> GatheredPartials:
    """Number what the partial answers of all rounds cite as one list; empty ones are left out.

    Where all are empty, the draft is the refusal; that is said only where every group was read: where one dropped out,
    the best passages go to one prompt instead.
    """
    settings = run_config(runtime.context, state["request"])
    excluded = set(state["excluded_ids"])
    groups = best_of_rounds(result for result in state["mapped"].values() if not _rests_on(result, excluded))
    combined = combine_groups(_fitting(groups, await workers.run(combined_room, state, settings)))
    gathered = GatheredPartials(
        partial_answers=combined.answers,
        passages=combined.passages,
        trace={"map": _told(groups, len(combined.answers))},
    )
    if combined.answers:
        return gathered
    if any(group["error"] for group in groups):
        gathered["map_plan"] = MapPlan(decision="single", reason="no group was answered", tasks=[])
        gathered["trace"]["grouping"] = {"decision": "single", "reason": "no group was answered", "groups": 0}
    else:
        gathered["draft"] = Draft(text=INDEX_HAS_NO_ANSWER, tokens=0)
    return gathered


def _rests_on(result: MappedGroup, excluded: AbstractSet[str]) -> bool:
    return any(passage["chunk_id"] in excluded for passage in result["passages"])


def _fitting(groups: Sequence[MappedGroup], room: int) -> list[MappedGroup]:
    """Those with a partial answer, as far as one prompt holds them; the first groups hold the best passages."""
    found = [group for group in groups if group["passages"]]
    sizes = [count_tokens(render_partial_answers([answer])) for answer in combine_groups(found).answers]
    return [found[index] for index in fit_in_budget(sizes, room)]  # fewer of them: none has longer numbers


def _told(groups: Sequence[MappedGroup], combined: int) -> dict[str, Any]:
    return {
        "groups": [
            {
                "group": group["key"],
                "round": group["round"],
                "passages": len(group["candidates"]),
                "cited": [passage["chunk_id"] for passage in group["passages"]],
                "confidence": group["verdict"]["confidence"],
                "error": group["error"],
            }
            for group in groups
        ],
        "combined": combined,
    }
