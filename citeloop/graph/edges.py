"""The routers of all graphs: pure, each reading the slice of state it needs.

They wait for nothing and are ``async def`` all the same: LangGraph calls a plain function in a thread of its own.
"""

from collections.abc import Iterable
from typing import Literal

from langgraph.types import Send

from citeloop.graph.map_edges import groups_to_reread, has_fresh_passages
from citeloop.state.graph_state import QueryState, SubQuestionTask
from citeloop.state.multi_query_state import MultiQueryState


async def route_after_authorize(state: QueryState) -> Literal["resolve_follow_up", "analyze_query"]:
    """A question with turns before it is made standalone first."""
    asked = sum(message.type == "human" for message in state["messages"])
    return "resolve_follow_up" if asked > 1 else "analyze_query"


async def route_after_analyze_query(
    state: QueryState,
) -> Literal[
    "plan_searches", "plan_scan", "rewrite_query", "ask_step_back", "decompose_question", "reply_to_small_talk"
]:
    """The multi-query strategies first make queries of the question; for the others it is the only one.

    Small talk asks nothing of the documents, so nothing is searched for.
    """
    if state["analysis"].get("small_talk"):
        return "reply_to_small_talk"
    match state["analysis"]["strategy"]:
        case "rag_fusion":
            return "rewrite_query"
        case "step_back":
            return "ask_step_back"
        case "sub_questions":
            return "decompose_question"
        case _:
            return _looking(state)


async def route_after_decompose_question(state: QueryState) -> list[Send] | Literal["plan_searches"]:
    """One branch per sub-question; a question that was not split is searched for as it is."""
    return _branches(state, range(len(state["queries"]))) if _is_split(state) else "plan_searches"


async def route_after_gather_sub_answers(state: QueryState) -> Literal["combine_sub_answers", "validate_citations"]:
    """Combine what was answered; where nothing was, the draft is a refusal already."""
    return "combine_sub_answers" if any(part["found"] for part in state["sub_answers"]) else "validate_citations"


async def fan_out_searches(state: QueryState) -> list[Send] | Literal["refuse_answer"]:
    """One branch per planned search; none planned is the refusal (an empty list would end the run silently)."""
    tasks = state["search_tasks"]
    return [Send("search_corpus", task) for task in tasks] if tasks else "refuse_answer"


async def fan_out_scan(state: QueryState) -> list[Send] | Literal["refuse_answer"]:
    """One branch per shard; where nothing is indexed, the refusal."""
    tasks = state["search_tasks"]
    return [Send("scan_shard", task) for task in tasks] if tasks else "refuse_answer"


async def route_after_assemble_context(
    state: QueryState,
) -> Literal["generate_answer", "refuse_answer", "compose_response"]:
    """Generate, unless there is no evidence at all, or a correction round brought none that was not there before."""
    if state["best"] is None:
        return "generate_answer" if state["passages"] else "refuse_answer"
    return "generate_answer" if has_fresh_passages(state) else "compose_response"


async def route_after_generate_answer(state: QueryState) -> Literal["validate_citations", "compose_response"]:
    """Validate the draft; a correction round whose model call failed returns what is there."""
    return "compose_response" if state["model_failure"] else "validate_citations"


async def route_after_validate_citations(
    state: QueryState,
) -> Literal["compose_response", "drop_invalid_sources", "expand_context"]:
    """Accept, or the correction that validation chose."""
    match state["correction"]:
        case "none":
            return "compose_response"
        case "drop":
            return "drop_invalid_sources"
        case _:
            return "expand_context"


async def route_after_drop_invalid_sources(
    state: QueryState,
) -> (
    list[Send]
    | Literal["generate_answer", "plan_searches", "plan_scan", "gather_sub_answers", "gather_partial_answers"]
):
    """Regenerate from what is left; when nothing is, search again without the dropped sources.

    Sub-questions are answered anew, and groups of passages read anew, where their answers cite what was dropped; where
    none does, they are combined anew.
    """
    if _is_split(state):
        return _branches(state, _citing_excluded(state)) or "gather_sub_answers"
    if state.get("partial_answers"):
        return groups_to_reread(state) or "gather_partial_answers"
    return "generate_answer" if state["passages"] else _looking(state)


async def route_after_expand_context(
    state: QueryState,
) -> list[Send] | Literal["assemble_context", "group_passages", "plan_searches", "plan_scan", "compose_response"]:
    """Assemble what stood around the passages (of a full scan: by one prompt or several), or search wider: of
    sub-questions, for those not answered well."""
    if _is_split(state):
        weak = [number for number, part in enumerate(state["sub_answers"]) if not part["passed"]]
        return _branches(state, weak) or "compose_response"
    if state["correction"] != "neighbours":
        return _looking(state)
    return "group_passages" if state.get("map_plan") else "assemble_context"


async def route_after_compose_response(state: QueryState) -> Literal["review_answer", "audit_response"]:
    """A person decides first, where that is asked for; a refusal, or small talk, claims nothing and needs none."""
    status = state["checked_response"]["status"]
    match state["request"].get("review", "off"):
        case "always":
            return "audit_response" if status in ("no_evidence", "small_talk") else "review_answer"
        case "low_confidence":
            return "review_answer" if status in ("low_confidence", "unchecked") else "audit_response"
        case _:
            return "audit_response"


async def route_after_review_answer(state: QueryState) -> Literal["audit_response", "review_answer"]:
    """Ask again until there is a decision that can be carried out."""
    return "audit_response" if state["review"]["decided"] else "review_answer"


def sub_question_task(state: QueryState | MultiQueryState, number: int) -> SubQuestionTask:
    """The branch of one of the ``queries``, in this round."""
    query = state["queries"][number]
    return SubQuestionTask(
        key=f"{number:02d}",
        sub_question=query["text"],
        origin=query["origin"],
        round=state["round"],
        correction=state.get("correction", "none"),
        excluded_ids=state.get("excluded_ids", []),
        request=state["request"],
    )


def _looking(state: QueryState) -> Literal["plan_searches", "plan_scan"]:
    return "plan_scan" if state["analysis"]["strategy"] == "exhaustive" else "plan_searches"


def _branches(state: QueryState, numbers: Iterable[int]) -> list[Send]:
    return [Send("research_sub_question", sub_question_task(state, number)) for number in numbers]


def _is_split(state: QueryState) -> bool:
    return any(query["origin"] == "sub_question" for query in state["queries"])


def _citing_excluded(state: QueryState) -> list[int]:
    excluded = set(state["excluded_ids"])
    return [
        number
        for number, part in enumerate(state["sub_answers"])
        if any(citation["source_chunk_id"] in excluded for citation in part["citations"])
    ]
