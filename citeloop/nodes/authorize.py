"""The door: takes the turn's inputs, refuses early what cannot be served, and writes the asked row."""

import time
import uuid
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from citeloop.errors import InvalidRequest
from citeloop.governance.door import Door
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import run_record_of
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Command, QueryState, Request
from citeloop.workers import WorkerPool

MAX_QUESTION_CHARACTERS = 20_000
MAX_REASON_CHARACTERS = 2_000


class Admitted(TypedDict):
    """A new turn: its request, and every key of the last turn put back."""

    request: Request
    messages: list[AnyMessage]
    round: int
    correction: str
    corrections_tried: list[str]
    ranked_lists: Overwrite
    search_failures: Overwrite
    candidates: list[Any]
    excluded_ids: list[str]
    passages: list[Any]
    best: None
    tokens_used: int
    model_failure: str
    query_trace: list[Any]
    ranked_trace: list[Any]
    ranked_by: str
    round_trace: list[Any]
    answer: str
    response: dict[str, Any]


async def authorize(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    store: HierarchicalKnowledgeStore,
    door: Door,
    workers: WorkerPool,
) -> Admitted:
    """Let the question in. Raises ``InvalidRequest``, ``MissingReason`` or ``CorpusNotFound``.

    The refusal here is early and friendly, not the boundary: corpora are opened again, as the caller, where they are
    read. No search runs before the asked row is durable.
    """
    caller = caller_of(config)
    request = _request_of(state)
    door.require_reason(request["command"], request["access_reason"])
    wants_audit = run_config(runtime.context).audit_all_queries
    await door.admit(run_record_of(config), caller, request, wants_audit=wants_audit)
    await workers.run(store.open_corpora, request["corpora"], caller)  # after the row: who tried what is kept as well
    return Admitted(
        request=request,
        messages=[HumanMessage(request["question"])] if state.get("question") else [],
        round=0,
        correction="none",
        corrections_tried=[],
        ranked_lists=Overwrite({}),
        search_failures=Overwrite({}),
        candidates=[],
        excluded_ids=[],
        passages=[],
        best=None,
        tokens_used=0,
        model_failure="",
        query_trace=[],
        ranked_trace=[],
        ranked_by="",
        round_trace=[],
        answer="",
        response={},
    )


class _Inputs(BaseModel):
    """What a caller may send, as it must be."""

    question: str = Field(max_length=MAX_QUESTION_CHARACTERS)
    corpora: list[str] | None = Field(min_length=1)
    access_reason: str = Field(max_length=MAX_REASON_CHARACTERS)
    command: Command


def _request_of(state: QueryState) -> Request:
    inputs = _validated(state)
    if not inputs.question:
        raise InvalidRequest("the question is empty; send `question`, or `messages` that end with a human one")
    return Request(
        request_id=str(uuid.uuid4()),
        question=inputs.question,
        corpora=inputs.corpora,
        access_reason=inputs.access_reason.strip(),
        command=inputs.command,
        started_at=time.time(),
    )


def _validated(state: QueryState) -> _Inputs:
    question = state.get("question") or _last_human_text(state.get("messages", []))
    try:
        return _Inputs.model_validate(
            {
                "question": question.strip() if isinstance(question, str) else question,
                "corpora": state.get("corpora"),
                "access_reason": state.get("access_reason") or "",
                "command": state.get("command") or "query",
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequest(f"{first['loc'][0]}: {first['msg']}; see the input schema of the graph") from None


def _last_human_text(messages: list[AnyMessage]) -> str:
    return messages[-1].text if messages and messages[-1].type == "human" else ""
