"""What leaves a graph, and what its ended row tells of it: the same in every graph."""

import time
from typing import Any
from uuid import uuid4

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
        messages=[AIMessage(response.to_markdown(), id=str(uuid4()), additional_kwargs={"answer": response.answer})],
    )


def completed(response: RAGResponse, request: Request, record: RunRecord, *, tells_errors: bool) -> RAGResponse:
    """``response`` with what it is the answer to, and what is known only at the end: its id in the audit, and the time
    of the run that ends here.

    Unless it ``tells_errors``, only their kind is left of those by which branches dropped out: the words may name files
    of the server.
    """
    told = response if tells_errors else _by_kind(response)
    return told.model_copy(
        update={
            "question": request.get("asked", request["question"]),
            "request_id": record.request_id or request["request_id"],
            "timings_ms": {**response.timings_ms, **record.timings_ms},
        }
    )


def _by_kind(response: RAGResponse) -> RAGResponse:
    def shortened(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "error": row["error"].partition(":")[0]} if row.get("error") else row for row in rows]

    trace = {
        key: shortened(value) if key in ("failures", "queries") else value for key, value in response.trace.items()
    }
    parts = tuple(p.model_copy(update={"error": p.error.partition(":")[0]}) for p in response.sub_answers)
    return response.model_copy(update={"trace": trace, "sub_answers": parts})


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
        **({"checks": "off"} if response.trace.get("checks") == "off" else {}),
    }
