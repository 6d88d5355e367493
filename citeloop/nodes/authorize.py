"""The door: takes the turn's inputs, refuses early what cannot be served, and writes the asked row."""

import asyncio
import time
import uuid
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.errors import InvalidRequest, MissingReason
from citeloop.governance.audit import AuditLog
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import RunRecord, run_record_of
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import QueryState, Request
from citeloop.state.models import UserContext
from citeloop.workers import WorkerPool

MAX_QUESTION_CHARACTERS = 20_000


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
    audit: AuditLog,
    workers: WorkerPool,
    ask_needs_reason: bool,
    audits_always: bool,
) -> Admitted:
    """Let the question in. Raises ``InvalidRequest``, ``MissingReason`` or ``CorpusNotFound``.

    The refusal here is early and friendly, not the boundary: corpora are opened again, as the caller, where they are
    read. No search runs before the asked row is durable.
    """
    caller = caller_of(config)
    request = _request_of(state, ask_needs_reason)
    await workers.run(store.open_corpora, request["corpora"], caller)
    if audits_always or run_config(runtime.context).audit_all_queries:
        await _keep_asked(audit, workers, run_record_of(config), request, caller)
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


async def _keep_asked(
    audit: AuditLog, workers: WorkerPool, record: RunRecord, request: Request, caller: UserContext
) -> None:
    record.request_id = request["request_id"]  # before the row: a run cancelled while it is written gets its end
    row = workers.run(audit.append, request["request_id"], "asked", _asked(request, caller))
    try:
        await asyncio.shield(row)
    except Exception:
        record.request_id = None
        raise


def _request_of(state: QueryState, ask_needs_reason: bool) -> Request:
    question = (state.get("question") or _last_human_text(state.get("messages", []))).strip()
    if not question:
        raise InvalidRequest("the question is empty; send `question`, or `messages` that end with a human one")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise InvalidRequest(f"the question has {len(question)} characters; {MAX_QUESTION_CHARACTERS} are the most")
    command = state.get("command") or "query"
    reason = (state.get("access_reason") or "").strip()
    if not reason and (command == "query" or ask_needs_reason):
        raise MissingReason("access_reason (--reason) is required: say why you ask, for example 'customer ticket 4711'")
    return Request(
        request_id=str(uuid.uuid4()),
        question=question,
        corpora=state.get("corpora") or None,
        access_reason=reason,
        command=command,
        started_at=time.time(),
    )


def _last_human_text(messages: list[AnyMessage]) -> str:
    return messages[-1].text if messages and messages[-1].type == "human" else ""


def _asked(request: Request, caller: UserContext) -> dict[str, Any]:
    return {
        "user": caller.user_id,
        "command": request["command"],
        "question": request["question"],
        "corpora": request["corpora"],
        "reason": request["access_reason"],
    }
