"""The routers of the multi-query graphs: pure, each reading the slice of state it needs; ``async`` as in ``edges``."""

from collections.abc import Mapping, Sequence
from typing import Literal

from langgraph.types import Send

from citeloop.state.graph_state import Request
from citeloop.state.multi_query_state import RagFusionState, StepBackState, SubQuestionsState


async def fan_out_queries(state: RagFusionState) -> list[Send]:
    """One branch for each query; the question's own is always among them."""
    return _send("search_documents", state["searches"], state["request"])


async def fan_out_both_questions(state: StepBackState) -> list[Send]:
    """One branch for the question, one for the step-back question if there is one."""
    return _send("search_documents", state["searches"], state["request"])


async def fan_out_sub_questions(state: SubQuestionsState) -> list[Send]:
    """One branch for each sub-question, or one for the question that was not split."""
    return _send("answer_sub_question", state["sub_question_tasks"], state["request"])


async def route_after_fuse_documents(state: RagFusionState) -> Literal["answer_from_documents", "refuse_answer"]:
    """Nothing retrieved never reaches the generator."""
    return "answer_from_documents" if state["passages"] else "refuse_answer"


async def route_after_pair_documents(state: StepBackState) -> Literal["answer_with_background", "refuse_answer"]:
    """Nothing retrieved never reaches the generator."""
    return "answer_with_background" if state["passages"] else "refuse_answer"


async def route_after_gather_sub_answers(
    state: SubQuestionsState,
) -> Literal["combine_sub_answers", "return_response", "refuse_answer"]:
    """Combine what was answered; the one answer to a question that was not split needs no combiner."""
    if state["best"] is not None:
        return "return_response"
    return "combine_sub_answers" if any(part["found"] for part in state["sub_answers"]) else "refuse_answer"


def _send(node: str, tasks: Sequence[Mapping[str, object]], request: Request) -> list[Send]:
    """Each task with the request that it belongs to: a branch sees nothing else of the state."""
    return [Send(node, {**task, "request": request}) for task in tasks]
