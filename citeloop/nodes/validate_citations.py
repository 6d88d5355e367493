"""Every citation of the draft is checked against its source, and what to do about it is decided."""

import time
from collections import Counter
from itertools import pairwise
from typing import Any

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import CheckedDraft, Correction, QueryState, Verdict
from citeloop.verification.claim_verdicts import told_in_short
from citeloop.verification.correction import NextRound, better_draft, choose_correction
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
    request, draft = state["request"], state["draft"]
    assert draft is not None, "only a draft is validated"
    verdict = await workers.run(verifier.verify, request["question"], draft["text"], state["passages"], settings)
    elapsed_ms = 1000 * (time.time() - request["started_at"])
    ends = [told.get("elapsed_ms", 0.0) for told in state["round_trace"]] + [elapsed_ms]
    chosen = choose_correction(
        verdict,
        settings,
        rounds_done=state["round"],
        elapsed_ms=elapsed_ms,
        tried=state["corrections_tried"],
        is_complete=all(part["found"] for part in state["sub_answers"]),
        round_ms=[end - start for start, end in pairwise([0.0, *ends])],
    )
    checked = CheckedDraft(
        round=state["round"], verdict=verdict, passages=state["passages"], sub_answers=state["sub_answers"]
    )
    return Validated(
        verdict=verdict,
        best=better_draft(state["best"], checked),
        correction=chosen.correction,
        round_trace=[*state["round_trace"], _told(state, draft["text"], verdict, chosen, elapsed_ms)],
    )


def _told(state: QueryState, written: str, verdict: Verdict, chosen: NextRound, elapsed_ms: float) -> dict[str, Any]:
    """The round, for the trace: the draft as it was written, what became of its claims, and what comes next and why."""
    claims, removed = verdict.get("claims", []), verdict.get("removed", [])
    return {
        "round": state["round"],
        "passages": [passage["chunk_id"] for passage in state["passages"]],
        "draft": written if removed else verdict["answer"],
        "claims": [told_in_short(claim) for claim in claims],
        "removed": [told_in_short(claim) for claim in removed],
        "verdicts": dict(Counter(claim["verdict"] for claim in (*claims, *removed))),
        "support_methods": verdict.get("support_methods", {}),
        "confidence": verdict["confidence"],
        "invalid_share": verdict["invalid_share"],
        "passed": verdict["passed"],
        "note": verdict["note"],
        "elapsed_ms": round(elapsed_ms, 3),
        "next": chosen.correction,
        "reason": chosen.reason,
    }
