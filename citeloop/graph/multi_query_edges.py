"""The routers of the multi-query graphs: pure, each reading the slice of state it needs; ``async`` as in ``edges``."""

from typing import Literal

from langgraph.types import Send

from citeloop.graph.edges import sub_question_task
from citeloop.state.multi_query_state import DocumentSearchTask, MultiQueryState


async def fan_out_queries(state: MultiQueryState) -> list[Send]:
    """One branch for each query; the question's own is always among them."""
    tasks = [
        DocumentSearchTask(key=f"{number:02d}", query=query["text"], origin=query["origin"], request=state["request"])
        for number, query in enumerate(state["queries"])
    ]
    return [Send("search_documents", task) for task in tasks]


async def fan_out_sub_questions(state: MultiQueryState) -> list[Send]:
    """One branch for each sub-question, or one for the question that was not split."""
    return [Send("answer_sub_question", sub_question_task(state, number)) for number in range(len(state["queries"]))]


async def route_after_fuse_documents(state: MultiQueryState) -> Literal["answer_from_documents", "refuse_answer"]:
    """Nothing retrieved never reaches the generator."""
    return "answer_from_documents" if state["passages"] else "refuse_answer"


async def route_after_pair_documents(state: MultiQueryState) -> Literal["answer_with_background", "refuse_answer"]:
    """Nothing retrieved never reaches the generator."""
    return "answer_with_background" if state["passages"] else "refuse_answer"


async def route_after_gather_sub_answers(
    state: MultiQueryState,
) -> Literal["combine_sub_answers", "return_response", "refuse_answer"]:
    """Combine what was answered; the one answer to a question that was not split needs no combiner."""
    if state["best"] is not None:
        return "return_response"
    return "combine_sub_answers" if any(part["found"] for part in state["sub_answers"]) else "refuse_answer"
