"""The response, built from the best validated draft; it has not left yet."""

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from citeloop.governance.run_record import run_record_of
from citeloop.state.graph_state import CheckedDraft, QueryState, Verdict
from citeloop.state.models import RetrievalStrategy, SubAnswer
from citeloop.verification.refusal import status_of
from citeloop.verification.refusal_reason import RefusalReason, explain_refusal, missing_terms
from citeloop.verification.response import policy_trace, response_from


class Composed(TypedDict):
    """What may leave the graph, once it is reviewed and audited."""

    checked_response: dict[str, Any]


async def compose_response(state: QueryState, config: RunnableConfig, *, expose_steps: bool) -> Composed:
    """Build the ``RAGResponse`` from the best validated draft, marked when none passed; a refusal says why.

    Where steps are not exposed, the drafts of the rounds stay out of its trace: they are not what was validated last.
    """
    best = state["best"]
    assert best is not None, "the graph ends only after a draft or a refusal"
    trace = _trace(state, best, expose_steps)
    if status_of(best["verdict"]) == "no_evidence":
        reason, question = _reason_for(state, best), state["request"]["question"]
        answer = explain_refusal(best["verdict"]["answer"], reason, question)
        best = CheckedDraft(**{**best, "verdict": Verdict(**{**best["verdict"], "answer": answer})})
        trace["refusal"] = reason.as_trace(question)
    response = response_from(
        best,
        RetrievalStrategy(state["analysis"]["strategy"]),
        len({candidate["chunk_id"] for candidate in state["candidates"]}) or len(best["passages"]),
        entities_traversed=state["trace"].get("entities", {}),
        hops_executed=len(state["trace"].get("hops", ())) or 1,
        correction_rounds=state["round"],
        tokens_used=sum(state["tokens"].values()),
        sub_answers=tuple(SubAnswer.model_validate(part) for part in best.get("sub_answers", ())),
        trace=trace,
        timings_ms=dict(run_record_of(config).timings_ms),
    )
    return Composed(checked_response=response.model_dump(mode="json"))


def _reason_for(state: QueryState, best: CheckedDraft) -> RefusalReason:
    """Only collections that were opened as the caller are named, and nothing of what their documents say: follow-up
    queries, which are made of names in the passages, stay in the trace of the searches."""
    question, passages = state["request"]["question"], best["passages"]
    searched = [*state.get("search_tasks", ()), *passages]
    traced = [*state["query_trace"], *state["trace"].get("queries", ())]
    texts = [" ".join((passage["title"], *passage["heading_path"], passage["text"])) for passage in passages]
    return RefusalReason(
        corpora=tuple(dict.fromkeys(one["corpus"] for one in searched)),
        passages=len(passages) or len({candidate["chunk_id"] for candidate in state["candidates"]}),
        queries=tuple(dict.fromkeys([question, *(row["query"] for row in traced if row["origin"] != "follow_up")])),
        missing=missing_terms(question, texts) if texts else None,
        chosen=state["request"]["corpora"] is not None,
    )


def _trace(state: QueryState, best: CheckedDraft, expose_steps: bool) -> dict[str, Any]:
    rounds = state["round_trace"]
    return {
        "analysis": state["analysis"],
        "queries": state["query_trace"],
        "ranked_chunks": state["ranked_trace"],
        "ranked_by": state["ranked_by"],
        "rounds": rounds if expose_steps else [_without_draft(told) for told in rounds],
        "returned_round": best["round"],
        "failures": list(state["search_failures"].values()),
        "model_failure": state["model_failure"],
        **policy_trace(best["verdict"], tells_text=expose_steps),
        **state["trace"],
    }


def _without_draft(told: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if key not in ("draft", "claims", "removed")}
