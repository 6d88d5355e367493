"""The door: takes the turn's inputs, refuses early what cannot be served, and writes the asked row."""

import time
import uuid
from typing import Annotated, Any

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from citeloop.chat_commands import parse_chat_command
from citeloop.errors import InvalidRequest
from citeloop.governance.door import Door
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import run_record_of
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.state.config import RAGConfig, ReviewPolicy, run_config, stricter_review
from citeloop.state.graph_state import Command, QueryState, Request, Review
from citeloop.workers import WorkerPool

MAX_QUESTION_CHARACTERS = 20_000
MAX_REASON_CHARACTERS = 2_000


_CHECKS = {
    "similarity_threshold",
    "confidence_threshold",
    "max_invalid_citations",
    "require_citations",
    "min_citations_per_claim",
}
"""Settings that decide whether an answer passes."""


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
    checked_response: dict[str, Any]
    review: Review
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
    least_review: ReviewPolicy = "off",
) -> Admitted:
    """Let the question in. Raises ``InvalidRequest``, ``MissingReason`` or ``CorpusNotFound``.

    The refusal here is early and friendly, not the boundary: corpora are opened again, as the caller, where they are
    read. No search runs before the asked row is durable. ``least_review`` is the engine's own policy.
    """
    caller, settings = caller_of(config), run_config(runtime.context)
    request = _request_of(state, settings, least_review)
    door.require_reason(request["command"], request["access_reason"])
    await door.admit(run_record_of(config), caller, request, wants_audit=settings.audit_all_queries)
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
        checked_response={},
        review=Review(decided=False, note=""),
        answer="",
        response={},
    )


class _Inputs(BaseModel):
    """What a caller may send, as it must be."""

    question: str = Field(max_length=MAX_QUESTION_CHARACTERS)
    corpora: list[Annotated[str, Field(max_length=MAX_REASON_CHARACTERS)]] | None = Field(min_length=1)
    access_reason: str = Field(max_length=MAX_REASON_CHARACTERS)
    command: Command
    overrides: dict[str, Any] = {}


def _request_of(state: QueryState, settings: RAGConfig, least_review: ReviewPolicy) -> Request:
    inputs = _validated(_said_in_chat(state) if not state.get("question") else _sent(state))
    if not inputs.question:
        raise InvalidRequest("the question is empty; send `question`, or `messages` that end with a human one")
    return Request(
        request_id=str(uuid.uuid4()),
        question=inputs.question,
        corpora=inputs.corpora,
        access_reason=inputs.access_reason.strip(),
        command=inputs.command,
        started_at=time.time(),
        overrides=inputs.overrides,
        review=stricter_review(settings.review, least_review),
        checks=_checks(settings, inputs.overrides),
    )


def _checks(settings: RAGConfig, overrides: dict[str, Any]) -> dict[str, Any]:
    return {**settings.model_dump(include=_CHECKS), **{name: overrides[name] for name in _CHECKS & overrides.keys()}}


def _sent(state: QueryState) -> dict[str, Any]:
    question = state.get("question")
    return {
        "question": question.strip() if isinstance(question, str) else question,
        "corpora": state.get("corpora"),
        "access_reason": state.get("access_reason") or "",
        "command": state.get("command") or "query",
    }


def _said_in_chat(state: QueryState) -> dict[str, Any]:
    """The last human message: a command in the form of ``chat_commands``, or a plain question.

    A chat has no place for a reason: without one the question is an ``ask``, which needs one only by policy.
    """
    sent = _sent(state)
    text = _last_human_text(state.get("messages", []))
    command = parse_chat_command(text, access_reason=sent["access_reason"])
    if command is None:
        plain = "query" if sent["access_reason"] else "ask"
        return {**sent, "question": text.strip(), "command": state.get("command") or plain}
    return {
        "question": command.question,
        "corpora": list(command.corpora) if command.corpora else sent["corpora"],
        "access_reason": command.access_reason,
        "command": command.command,
        "overrides": command.overrides,
    }


def _validated(values: dict[str, Any]) -> _Inputs:
    try:
        return _Inputs.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequest(f"{first['loc'][0]}: {first['msg']}; see the input schema of the graph") from None


def _last_human_text(messages: list[AnyMessage]) -> str:
    return messages[-1].text if messages and messages[-1].type == "human" else ""
