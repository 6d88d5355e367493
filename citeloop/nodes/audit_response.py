"""The last step: the ended row is made durable, and only then does the response leave."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Overwrite

from citeloop.governance.departure import Departure, completed, departure, ended_row
from citeloop.governance.door import Door
from citeloop.governance.run_record import run_record_of
from citeloop.state.graph_state import QueryState
from citeloop.state.models import RAGResponse


class Audited(Departure):
    """What leaves the graph."""

    checked_response: dict[str, Any]
    queries: list[Any]
    search_tasks: list[Any]
    coverage: None
    grading: None
    candidates: list[Any]
    passages: list[Any]
    draft: None
    verdict: None
    best: None
    answered: Overwrite
    sub_answers: list[Any]
    map_plan: None
    mapped: Overwrite
    partial_answers: list[str]
    trace: Overwrite
    query_trace: list[Any]
    ranked_trace: list[Any]
    round_trace: list[Any]


async def audit_response(state: QueryState, config: RunnableConfig, *, door: Door, expose_steps: bool) -> Audited:
    """Let the composed response go, after its audit row.

    What only the steps needed leaves the state, so that threads stay small; the checkpoints before this one keep it for
    debugging.
    """
    record = run_record_of(config)
    checked = RAGResponse.model_validate(state["checked_response"])
    response = completed(checked, state["request"], record, tells_errors=expose_steps)
    await door.end(record, ended_row(response, state["request"]))
    return Audited(
        **departure(response),
        checked_response={},
        queries=[],
        search_tasks=[],
        coverage=None,
        grading=None,
        candidates=[],
        passages=[],
        draft=None,
        verdict=None,
        best=None,
        answered=Overwrite({}),
        sub_answers=[],
        map_plan=None,
        mapped=Overwrite({}),
        partial_answers=[],
        trace=Overwrite({}),
        query_trace=[],
        ranked_trace=[],
        round_trace=[],
    )
