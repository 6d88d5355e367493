"""The first step of a multi-query graph: takes the question, and puts back what an earlier turn left."""

from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.errors import InvalidRequest
from citeloop.governance.door import Door
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import run_record_of
from citeloop.request_reading import read_request
from citeloop.retrieval.document_search import DocumentSearch
from citeloop.state.graph_state import Request
from citeloop.state.multi_query_state import MultiQueryState


class AdmittedQuestion(TypedDict):
    """A new turn."""

    request: Request
    messages: list[AnyMessage]
    round: int
    queries: list[Any]
    found: Overwrite
    answered: Overwrite
    passages: list[Any]
    draft: None
    tokens: Overwrite
    trace: Overwrite
    sub_answers: list[Any]
    best: None
    answer: str
    response: dict[str, Any]


async def admit_question(
    state: MultiQueryState, config: RunnableConfig, *, search: DocumentSearch, door: Door | None
) -> AdmittedQuestion:
    """Let the question in, through ``door`` where there is one.

    Raises ``InvalidRequest``, ``MissingReason`` or ``CorpusNotFound``. As in ``authorize``, no search runs before the
    asked row is durable, and the refusal of a corpus here is early and friendly, not the boundary.
    """
    request = read_request(state)
    if request["overrides"]:
        raise InvalidRequest(f"{', '.join(request['overrides'])}: not in a chat with this graph; see its run settings")
    if door is not None:
        door.require_reason(request["command"], request["access_reason"])
        await door.admit(run_record_of(config), caller_of(config), request, wants_audit=False)
    await search.require_open(request["corpora"], config)
    return AdmittedQuestion(
        request=request,
        messages=[HumanMessage(request["question"])] if state.get("question") else [],
        round=0,
        queries=[],
        found=Overwrite({}),
        answered=Overwrite({}),
        passages=[],
        draft=None,
        tokens=Overwrite({}),
        trace=Overwrite({}),
        sub_answers=[],
        best=None,
        answer="",
        response={},
    )
