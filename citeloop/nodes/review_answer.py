"""A person decides before the answer leaves: approve it, edit it (it is validated again), or reject it."""

import json
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.prompts.refusals import WITHHELD
from citeloop.retrieval.passages import PassageReader
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import QueryState, Verdict
from citeloop.state.models import Citation, RAGResponse
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.verification.refusal import status_of
from citeloop.workers import WorkerPool

_HOW = 'approve, reject, or {"decision": "edit", "answer": "..."}; a "note" may be given with each'


class ReviewDecision(BaseModel):
    """What a reviewer resumes the run with; a bare word is short for a decision without more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    decision: Literal["approve", "edit", "reject"]
    answer: str = Field(default="", max_length=100_000, description="The edited answer, with its [n] citations.")
    note: str = Field(default="", max_length=2_000, description="Why; kept in the audit log.")

    @model_validator(mode="before")
    @classmethod
    def _read_words(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return json.loads(value) if value.lstrip().startswith("{") else {"decision": value.strip().lower()}

    @model_validator(mode="after")
    def _check_edit(self) -> "ReviewDecision":
        if self.decision == "edit" and not self.answer.strip():
            raise ValueError("an edit needs the edited answer")
        return self


class Reviewed(TypedDict):
    """The response as it was decided."""

    checked_response: dict[str, Any]


async def review_answer(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    reader: PassageReader,
    verifier: DraftVerifier,
    workers: WorkerPool,
) -> Reviewed:
    """Pause until a person has decided; an edit that does not pass validation is shown again with what is wrong.

    The sources of an edit are read anew, as the reviewer: the citations are checked against what is stored now, and
    against nothing that the reviewer may not read.
    """
    response = RAGResponse.model_validate(state["checked_response"])
    note = _last_note(response)
    while True:
        reply = _await_decision(_offer(state, response, note), runtime)
        try:
            decision = ReviewDecision.model_validate(reply)
        except ValueError as error:
            note = f"that decision cannot be read ({_first_problem(error)}); {_HOW}"
            continue
        if decision.decision == "edit":
            settings = run_config(runtime.context, state["request"])
            verdict = await workers.run(_validate, reader, verifier, state, response, decision, config, settings)
            response = _edited(response, verdict)
            if not (verdict["passed"] or verdict["refused"]):
                note = f"the edited answer did not pass: {verdict['note']}"
                continue
        if decision.decision == "reject":
            response = _withheld(response)
        return Reviewed(checked_response=_signed(response, decision, config).model_dump(mode="json"))


def _await_decision(offer: dict[str, Any], runtime: Runtime[RAGConfig]) -> Any:
    try:
        return interrupt(offer)
    except GraphInterrupt:  # who follows the messages or the progress alone would see nothing of the pause
        runtime.stream_writer(
            {"event": "review", "node": "review_answer", "text": "the answer waits for a person's decision"}
        )
        raise


def _offer(state: QueryState, response: RAGResponse, note: str) -> dict[str, Any]:
    """What the reviewer sees."""
    return {
        "question": state["request"]["question"],
        "answer": response.answer,
        "status": response.status,
        "confidence": response.confidence,
        "citations": [citation.model_dump(mode="json") for citation in response.citations],
        "sub_answers": {part.sub_question: part.answer for part in response.sub_answers},
        "note": note,
        "decide": _HOW,
    }


def _last_note(response: RAGResponse) -> str:
    rounds = response.trace.get("rounds") or [{}]
    return str(rounds[-1].get("note", ""))


def _first_problem(error: ValueError) -> str:
    return error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)


def _validate(
    reader: PassageReader,
    verifier: DraftVerifier,
    state: QueryState,
    response: RAGResponse,
    decision: ReviewDecision,
    config: RunnableConfig,
    settings: RAGConfig,
) -> Verdict:
    passages = reader.read_passages(response.sources, caller_of(config))
    return verifier.verify(state["request"]["question"], decision.answer, passages, settings)


def _edited(response: RAGResponse, verdict: Verdict) -> RAGResponse:
    sources = () if verdict["refused"] else response.sources
    return response.model_copy(
        update={
            "answer": verdict["answer"],
            "status": status_of(verdict),
            "sources": sources,
            "citations": tuple(Citation.model_validate(citation) for citation in verdict["citations"]),
            "sub_answers": (),  # what the person wrote is not combined from them
            "confidence": verdict["confidence"],
        }
    )


def _withheld(response: RAGResponse) -> RAGResponse:
    """Nothing of the answer is left, in the trace neither."""
    kept = {"analysis": response.trace.get("analysis")}
    return RAGResponse(
        answer=WITHHELD,
        status="rejected",
        confidence=0.0,
        strategy_used=response.strategy_used,
        correction_rounds=response.correction_rounds,
        tokens_used=response.tokens_used,
        trace=kept,
        timings_ms=response.timings_ms,
    )


def _signed(response: RAGResponse, decision: ReviewDecision, config: RunnableConfig) -> RAGResponse:
    by = {"decision": decision.decision, "by": caller_of(config).user_id, "note": decision.note}
    return response.model_copy(update={"trace": {**response.trace, "review": by}})
