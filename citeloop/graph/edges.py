"""The routers of all graphs: pure, each reading the slice of state it needs.

They wait for nothing and are ``async def`` all the same: LangGraph calls a plain function in a thread of its own.
"""

from typing import Literal

from langgraph.types import Send

from citeloop.state.graph_state import QueryState


async def fan_out_searches(state: QueryState) -> list[Send] | Literal["refuse_answer"]:
    """One branch per planned search; none planned is the refusal (an empty list would end the run silently)."""
    tasks = state["search_tasks"]
    return [Send("search_corpus", task) for task in tasks] if tasks else "refuse_answer"


async def route_after_assemble_context(
    state: QueryState,
) -> Literal["generate_answer", "refuse_answer", "compose_response"]:
    """Generate, unless there is no evidence at all, or a correction round brought none that was not there before."""
    best = state["best"]
    if best is None:
        return "generate_answer" if state["passages"] else "refuse_answer"
    seen = {passage["chunk_id"] for passage in best["passages"]}
    fresh = any(passage["chunk_id"] not in seen for passage in state["passages"])
    return "generate_answer" if fresh else "compose_response"


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


async def route_after_drop_invalid_sources(state: QueryState) -> Literal["generate_answer", "plan_searches"]:
    """Regenerate from what is left; when nothing is, search again without the dropped sources."""
    return "generate_answer" if state["passages"] else "plan_searches"


async def route_after_expand_context(state: QueryState) -> Literal["assemble_context", "plan_searches"]:
    """Assemble what stood around the passages, or search wider."""
    return "assemble_context" if state["correction"] == "neighbours" else "plan_searches"


async def route_after_compose_response(state: QueryState) -> Literal["review_answer", "audit_response"]:
    """A person decides first, where that is asked for; a refusal claims nothing and needs no decision."""
    status = state["checked_response"]["status"]
    match state["request"].get("review", "off"):
        case "always":
            return "audit_response" if status == "no_evidence" else "review_answer"
        case "low_confidence":
            return "review_answer" if status == "low_confidence" else "audit_response"
        case _:
            return "audit_response"


async def route_after_review_answer(state: QueryState) -> Literal["audit_response", "review_answer"]:
    """Ask again until there is a decision that can be carried out."""
    return "audit_response" if state["review"]["decided"] else "review_answer"
