"""The door: takes the turn's inputs, refuses early what cannot be served, and writes the asked row."""

from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.governance.door import Door
from citeloop.governance.identity import caller_of
from citeloop.governance.run_record import run_record_of
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.request_reading import read_request
from citeloop.state.config import RAGConfig, ReviewPolicy, run_config, stricter_review
from citeloop.state.graph_state import QueryState, Request, Review
from citeloop.workers import WorkerPool

_CHECKS = {
    "similarity_threshold",
    "confidence_threshold",
    "max_invalid_citations",
    "require_citations",
    "min_citations_per_claim",
    "claim_policy",
}
"""Settings that decide whether an answer passes."""


class Admitted(TypedDict):
    """A new turn: its request, and every key of the last turn put back."""

    request: Request
    messages: list[AnyMessage]
    queries: list[Any]
    round: int
    correction: str
    corrections_tried: list[str]
    search_tasks: list[Any]
    ranked_lists: Overwrite
    search_failures: Overwrite
    hop: int
    coverage: None
    grading: None
    candidates: list[Any]
    excluded_ids: list[str]
    passages: list[Any]
    draft: None
    verdict: None
    best: None
    tokens: Overwrite
    answered: Overwrite
    sub_answers: list[Any]
    map_plan: None
    mapped: Overwrite
    partial_answers: list[str]
    model_failure: str
    trace: Overwrite
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
    request = read_request(state, stricter_review(settings.review, least_review))
    request["checks"] = run_config(settings, request).model_dump(include=_CHECKS)
    door.require_reason(request["command"], request["access_reason"])
    await door.admit(run_record_of(config), caller, request, wants_audit=settings.audit_all_queries)
    await workers.run(store.open_corpora, request["corpora"], caller)  # after the row: who tried what is kept as well
    return Admitted(
        request=request,
        messages=[HumanMessage(request["question"])] if state.get("question") else [],
        queries=[],
        round=0,
        correction="none",
        corrections_tried=[],
        search_tasks=[],
        ranked_lists=Overwrite({}),
        search_failures=Overwrite({}),
        hop=0,
        coverage=None,
        grading=None,
        candidates=[],
        excluded_ids=[],
        passages=[],
        draft=None,
        verdict=None,
        best=None,
        tokens=Overwrite({}),
        answered=Overwrite({}),
        sub_answers=[],
        map_plan=None,
        mapped=Overwrite({}),
        partial_answers=[],
        model_failure="",
        trace=Overwrite({}),
        query_trace=[],
        ranked_trace=[],
        ranked_by="",
        round_trace=[],
        checked_response={},
        review=Review(decided=False, note=""),
        answer="",
        response={},
    )
