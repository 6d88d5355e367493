"""The routers of the two loops that search again before anything is generated; see ``edges``.

``multi_hop``: search, check what is covered, ask a follow-up, search. Corrective retrieval: search, grade, rewrite,
search. Both count their searches in ``hop`` and run in a question's first round only: later rounds correct the draft.
"""

from typing import Literal

from citeloop.retrieval.query_plan import queries_in_hop, query_from
from citeloop.state.graph_state import QueryState


async def route_after_fuse_results(state: QueryState) -> Literal["rerank_chunks", "rerank_follow_ups"]:
    """What follow-ups found is ranked by what each of them asked."""
    follows = query_from(queries_in_hop(state["queries"], state["hop"]), "follow_up")
    return "rerank_follow_ups" if state["hop"] and follows else "rerank_chunks"


async def route_after_rerank_chunks(
    state: QueryState,
) -> Literal["walk_entities", "diversify_chunks", "check_coverage", "grade_passages", "assemble_context"]:
    """``graph`` goes on to what the passages name, and of a full scan some are chosen for coverage; else passages are
    looked at before they are used, in the first round."""
    match state["analysis"]["strategy"]:
        case "multi_hop":
            return "walk_entities" if state["round"] else "check_coverage"
        case "graph":
            return "walk_entities"
        case "exhaustive":
            return "diversify_chunks"
        case _:
            return "assemble_context" if state["round"] else "grade_passages"


async def route_after_check_coverage(state: QueryState) -> Literal["ask_follow_up", "walk_entities"]:
    """Another hop; or, from what all hops found, the walk over entities, as in ``graph``."""
    coverage = state["coverage"]
    return "ask_follow_up" if coverage and coverage["decision"] == "search" else "walk_entities"


async def route_after_ask_follow_up(state: QueryState) -> Literal["plan_searches", "walk_entities"]:
    """Search for the follow-ups, where there are any."""
    return "plan_searches" if queries_in_hop(state["queries"], state["hop"]) else "walk_entities"


async def route_after_grade_passages(
    state: QueryState,
) -> Literal["correct_retrieval", "assemble_context", "refuse_answer"]:
    """Use the passages, search in other words, or refuse: as grading decided."""
    match state["grading"]:
        case {"decision": "rewrite"}:
            return "correct_retrieval"
        case {"decision": "refuse"}:
            return "refuse_answer"
        case _:
            return "assemble_context"


async def route_after_correct_retrieval(state: QueryState) -> Literal["plan_searches", "grade_passages"]:
    """Search for the rewordings; without any, what is there is graded for good."""
    return "plan_searches" if queries_in_hop(state["queries"], state["hop"]) else "grade_passages"
