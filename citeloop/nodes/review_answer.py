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
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import QueryState, Review, Verdict
from citeloop.state.models import AnswerClaim, Citation, Conflict, RAGResponse
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.verification.refusal import status_of
from citeloop.verification.response import policy_trace
from citeloop.workers import WorkerPool

_HOW = 'approve, reject, or {"decision": "edit", "answer": "..."}; a "note" may be given with each'


class ReviewDecision(BaseModel):
    """What a reviewer resumes the run with; a bare word is short for a decision without more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    decision: Literal["approve", "edit", "reject"]
    answer: str = Field(default="", max_length=20_000, description="The edited answer, with its [n] citations.")
    note: str = Field(default="", max_length=2_000, description="Why; kept in the audit log.")

    @model_validator(mode="before")
    @classmethod
    def _read_words(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return _read_json(value) if value.lstrip().startswith("{") else {"decision": value.strip().lower()}

    @model_validator(mode="after")
    def _check_answer(self) -> "ReviewDecision":
        if (self.decision == "edit") != bool(self.answer.strip()):
            raise ValueError("an edit needs the edited answer, and nothing else takes one")
        return self


class Reviewed(TypedDict):
    """The response as far as it is decided on."""

    checked_response: dict[str, Any]
    review: Review


async def review_answer(
    state: QueryState,
    config: RunnableConfig,
    runtime: Runtime[RAGConfig],
    *,
    reader: PassageReader,
    verifier: DraftVerifier,
    workers: WorkerPool,
) -> Reviewed:
    """Pause for one decision. One that cannot be read, and an edit that does not pass validation, lead back here.

    The sources of an edit are read anew, as the reviewer: its citations are checked against what is stored now, and
    against nothing that the reviewer may not read; by the settings of the asker, whatever the reviewer brings. Each
    reply is judged once: a later one never goes over an earlier one again.
    """
    response = RAGResponse.model_validate(state["checked_response"])
    reply = _await_decision(_offer(state, response), runtime)
    try:
        decision = ReviewDecision.model_validate(reply)
    except ValueError as error:
        note = f"that decision cannot be read ({_first_problem(error)}); {_HOW}"
        return Reviewed(checked_response=state["checked_response"], review=Review(decided=False, note=note))
    review = Review(decided=True, note="")
    match decision.decision:
        case "edit":
            verdict = await workers.run(_validate, reader, verifier, state, response, decision, config)
            response = _edited(response, verdict)
            if verdict.get("removed") or not (verdict["passed"] or verdict["refused"] or verdict.get("unchecked")):
                review = Review(decided=False, note=f"the edited answer did not pass: {_faults(verdict)}")
        case "reject":
            response = _withheld(response)
    signed = _signed(response, decision, caller_of(config).user_id)
    return Reviewed(checked_response=signed.model_dump(mode="json"), review=review)


def _read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _await_decision(offer: dict[str, Any], runtime: Runtime[RAGConfig]) -> Any:
    try:
        return interrupt(offer)
    except GraphInterrupt:  # who follows the messages or the progress alone would see nothing of the pause
        runtime.stream_writer(
            {"event": "review", "node": "review_answer", "text": "the answer waits for a person's decision"}
        )
        raise


def _offer(state: QueryState, response: RAGResponse) -> dict[str, Any]:
    """What the reviewer sees."""
    return {
        "question": state["request"]["question"],
        "answer": response.answer,
        "status": response.status,
        "confidence": response.confidence,
        "citations": [citation.model_dump(mode="json") for citation in response.citations],
        "claims": [claim.model_dump(mode="json") for claim in response.claims],
        "removed": response.trace.get("removed", []),
        "conflicts": [conflict.model_dump(mode="json") for conflict in response.conflicts],
        "sub_answers": {part.sub_question: part.answer for part in response.sub_answers},
        "note": state["review"]["note"] or _last_note(response),
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
) -> Verdict:
    passages = reader.read_passages(response.sources, caller_of(config))
    request = state["request"]
    return verifier.verify(request["question"], decision.answer, passages, RAGConfig(**request["checks"]))


def _faults(verdict: Verdict) -> str:
    """Why the edit did not pass; nothing of what a person wrote is taken out behind their back."""
    removed = (f'"{claim["text"]}" ({claim["reason"]})' for claim in verdict.get("removed", ()))
    return "; ".join([verdict["note"], *removed])


def _edited(response: RAGResponse, verdict: Verdict) -> RAGResponse:
    sources = () if verdict["refused"] else response.sources
    return response.model_copy(
        update={
            "answer": verdict["answer"],
            "status": status_of(verdict),
            "sources": sources,
            "context_used": response.context_used.model_copy(update={"chunks": sources}),
            "citations": tuple(Citation.model_validate(citation) for citation in verdict["citations"]),
            "claims": tuple(AnswerClaim.model_validate(claim) for claim in verdict.get("claims", ())),
            "conflicts": tuple(Conflict.model_validate(conflict) for conflict in verdict.get("conflicts", ())),
            "sub_answers": (),  # what the person wrote is not combined from them
            "confidence": verdict["confidence"],
            "trace": {**_trace_of_others(response), **policy_trace(verdict, tells_text=False)},
        }
    )


def _trace_of_others(response: RAGResponse) -> dict[str, Any]:
    """The trace without what it tells of the answer before the edit."""
    return {key: value for key, value in response.trace.items() if key not in ("checks", "removed")}


def _withheld(response: RAGResponse) -> RAGResponse:
    """Nothing of the answer is left, in the trace neither."""
    kept = {key: response.trace.get(key) for key in ("analysis", "review")}
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


def _signed(response: RAGResponse, decision: ReviewDecision, by: str) -> RAGResponse:
    """Who decided what; of an answer that was edited and then approved or rejected, also who edited it."""
    before = response.trace.get("review") or {}
    signature = {"decision": decision.decision, "by": by, "note": decision.note}
    if before.get("decision") == "edit" and decision.decision != "edit":
        signature["edited_by"] = before["by"]
    return response.model_copy(update={"trace": {**response.trace, "review": signature}})
