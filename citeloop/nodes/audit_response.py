"""The last step: the ended row is made durable, and only then does the response leave."""

import time
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from citeloop.governance.door import Door
from citeloop.governance.run_record import RunRecord, run_record_of
from citeloop.state.graph_state import QueryState
from citeloop.state.models import RAGResponse


class Audited(TypedDict):
    """What leaves the graph."""

    answer: str
    response: dict[str, Any]
    messages: list[AnyMessage]
    checked_response: dict[str, Any]
    search_tasks: list[Any]
    candidates: list[Any]
    passages: list[Any]
    best: None
    query_trace: list[Any]
    ranked_trace: list[Any]
    round_trace: list[Any]


async def audit_response(state: QueryState, config: RunnableConfig, *, door: Door) -> Audited:
    """Let the composed response go, after its audit row.

    In the conversation it stands as Markdown, sources included: a chat shows nothing else of it. What only the steps
    needed leaves the state, so that threads stay small; the checkpoints before this one keep it for debugging.
    """
    record = run_record_of(config)
    response = _completed(state, record)
    await door.end(record, _ended(state, response))
    message = AIMessage(response.to_markdown(), additional_kwargs={"answer": response.answer})
    return Audited(
        answer=response.answer,
        response=response.model_dump(mode="json"),
        messages=[message],
        checked_response={},
        search_tasks=[],
        candidates=[],
        passages=[],
        best=None,
        query_trace=[],
        ranked_trace=[],
        round_trace=[],
    )


def _completed(state: QueryState, record: RunRecord) -> RAGResponse:
    """The response with what is known only now: its id in the audit, and the time of the run that ends here."""
    response = RAGResponse.model_validate(state["checked_response"])
    return response.model_copy(
        update={
            "request_id": record.request_id or state["request"]["request_id"],
            "timings_ms": {**response.timings_ms, **record.timings_ms},
        }
    )


def _ended(state: QueryState, response: RAGResponse) -> dict[str, Any]:
    review = response.trace.get("review")
    return {
        "outcome": response.status,
        "strategy": response.strategy_used.value,
        "confidence": response.confidence,
        "rounds": response.correction_rounds,
        "tokens": response.tokens_used,
        "cited_chunks": sorted({citation.source_chunk_id for citation in response.citations}),
        "milliseconds": round(1000 * (time.time() - state["request"]["started_at"])),
        **({"review": review} if review else {}),
    }
