"""The last step: the response is built, its ended row is made durable, and only then does it leave."""

import time
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from citeloop.governance.door import Door
from citeloop.governance.run_record import RunRecord, run_record_of
from citeloop.state.graph_state import CheckedDraft, Passage, QueryState
from citeloop.state.models import (
    AnswerStatus,
    Citation,
    RAGResponse,
    RetrievalContext,
    RetrievalStrategy,
    SourceReference,
)


class Audited(TypedDict):
    """What leaves the graph."""

    answer: str
    response: dict[str, Any]
    messages: list[AnyMessage]


async def audit_response(state: QueryState, config: RunnableConfig, *, door: Door) -> Audited:
    """Return the best validated draft, marked when none passed, after its audit row."""
    record = run_record_of(config)
    response = _response(state, record)
    await door.end(record, _ended(state, response))
    return Audited(
        answer=response.answer, response=response.model_dump(mode="json"), messages=[AIMessage(response.answer)]
    )


def _response(state: QueryState, record: RunRecord) -> RAGResponse:
    best = state["best"]
    assert best is not None, "the graph ends only after a draft or a refusal"
    verdict = best["verdict"]
    strategy = RetrievalStrategy(state["analysis"]["strategy"])
    sources = () if verdict["refused"] else tuple(_source(passage) for passage in best["passages"])
    return RAGResponse(
        answer=verdict["answer"],
        status=_status(best),
        citations=tuple(Citation.model_validate(citation) for citation in verdict["citations"]),
        confidence=verdict["confidence"],
        sources=sources,
        strategy_used=strategy,
        correction_rounds=state["round"],
        tokens_used=state["tokens_used"],
        context_used=RetrievalContext(chunks=sources, strategy_used=strategy, total_retrieved=len(state["candidates"])),
        request_id=record.request_id or state["request"]["request_id"],
        trace=_trace(state, best),
        timings_ms=dict(record.timings_ms),
    )


def _status(best: CheckedDraft) -> AnswerStatus:
    if best["verdict"]["refused"]:
        return "no_evidence"
    return "answered" if best["verdict"]["passed"] else "low_confidence"


def _source(passage: Passage) -> SourceReference:
    return SourceReference.model_validate({key: value for key, value in passage.items() if key != "text"})


def _trace(state: QueryState, best: CheckedDraft) -> dict[str, Any]:
    return {
        "analysis": state["analysis"],
        "queries": state["query_trace"],
        "ranked_chunks": state["ranked_trace"],
        "ranked_by": state["ranked_by"],
        "rounds": state["round_trace"],
        "returned_round": best["round"],
        "failures": list(state["search_failures"].values()),
        "model_failure": state["model_failure"],
    }


def _ended(state: QueryState, response: RAGResponse) -> dict[str, Any]:
    return {
        "outcome": response.status,
        "strategy": response.strategy_used.value,
        "confidence": response.confidence,
        "rounds": response.correction_rounds,
        "tokens": response.tokens_used,
        "cited_chunks": sorted({citation.source_chunk_id for citation in response.citations}),
        "milliseconds": round(1000 * (time.time() - state["request"]["started_at"])),
    }
