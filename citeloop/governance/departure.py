"""What leaves a graph, and what its ended row tells of it: the same in every graph."""

import time
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from typing_extensions import TypedDict

from citeloop.governance.run_record import RunRecord
from citeloop.state.graph_state import Request
from citeloop.state.models import RAGResponse


class Departure(TypedDict):
    """The output of a graph. In the conversation the answer stands as Markdown, sources included: a chat shows nothing
    else of it."""

    answer: str
    response: dict[str, Any]
    messages: list[AnyMessage]


def departure(response: RAGResponse) -> Departure:
    """``response`` as it leaves."""
    return Departure(
        answer=response.answer,
        response=response.model_dump(mode="json"),
        messages=[AIMessage(response.to_markdown(), additional_kwargs={"answer": response.answer})],
    )


def completed(response: RAGResponse, request: Request, record: RunRecord) -> RAGResponse:
    """``response`` with what is known only at the end: its id in the audit, and the time of the run that ends here."""
    return response.model_copy(
        update={
            "request_id": record.request_id or request["request_id"],
            "timings_ms": {**response.timings_ms, **record.timings_ms},
        }
    )


def ended_row(response: RAGResponse, request: Request) -> dict[str, Any]:
    """The body of the ended row of an answered question."""
    review = response.trace.get("review")
    return {
        "outcome": response.status,
        "strategy": response.strategy_used.value,
        "confidence": response.confidence,
        "rounds": response.correction_rounds,
        "tokens": response.tokens_used,
        "cited_chunks": sorted({citation.source_chunk_id for citation in response.citations}),
        "milliseconds": round(1000 * (time.time() - request["started_at"])),
        **({"review": review} if review else {}),
    }
