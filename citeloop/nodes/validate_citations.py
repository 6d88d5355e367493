"""Every citation of the draft is checked against its source, and what to do about it is decided."""

import time
from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import CheckedDraft, Correction, QueryState, Verdict
from citeloop.verification.correction import better_draft, choose_correction
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.workers import WorkerPool


class Validated(TypedDict):
    """The verdict, the best draft so far, and the next step."""

    verdict: Verdict
    best: CheckedDraft
    correction: Correction
    round_trace: list[dict[str, Any]]


async def validate_citations(
    state: QueryState, runtime: Runtime[RAGConfig], *, verifier: DraftVerifier, workers: WorkerPool
) -> Validated:
    """Validate this round's draft; keep the best one; choose the correction, if there is to be one."""
    settings = run_config(runtime.context, state["request"])
    request = state["request"]
    verdict = await workers.run(
        verifier.verify, request["question"], state["draft"]["text"], state["passages"], settings
    )
    correction = choose_correction(
        verdict,
        settings,
        rounds_done=state["round"],
        elapsed_ms=1000 * (time.time() - request["started_at"]),
        tried=state["corrections_tried"],
        is_complete=all(part["found"] for part in state["sub_answers"]),
    )
    checked = CheckedDraft(
        round=state["round"], verdict=verdict, passages=state["passages"], sub_answers=state["sub_answers"]
    )
    return Validated(
        verdict=verdict,
        best=better_draft(state["best"], checked),
        correction=correction,
        round_trace=[*state["round_trace"], _told(state, verdict, correction)],
    )


def _told(state: QueryState, verdict: Verdict, correction: Correction) -> dict[str, Any]:
    return {
        "round": state["round"],
        "passages": [passage["chunk_id"] for passage in state["passages"]],
        "draft": verdict["answer"],
        "confidence": verdict["confidence"],
        "invalid_share": verdict["invalid_share"],
        "passed": verdict["passed"],
        "note": verdict["note"],
        "next": correction,
    }
