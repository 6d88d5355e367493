"""The last step of a multi-query graph: the response, with how it came about, after its ended row."""

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Overwrite

from citeloop.governance.departure import Departure, completed, departure, ended_row
from citeloop.governance.door import Door
from citeloop.governance.run_record import run_record_of
from citeloop.state.models import RAGResponse, RetrievalStrategy, SubAnswer
from citeloop.state.multi_query_state import MultiQueryState, TracedQuery
from citeloop.verification.response import policy_trace, response_from


class Returned(Departure):
    """What leaves the graph."""

    queries: list[Any]
    found: Overwrite
    answered: Overwrite
    passages: list[Any]
    draft: None
    best: None
    trace: Overwrite
    sub_answers: list[Any]


async def return_response(
    state: MultiQueryState,
    config: RunnableConfig,
    *,
    strategy: RetrievalStrategy,
    door: Door | None,
    expose_steps: bool,
) -> Returned:
    """The checked answer with its citations, its sources, its sub-answers and its trace.

    What only the steps needed leaves the state, so that threads stay small; the checkpoints before this one keep it for
    debugging.
    """
    record = run_record_of(config)
    response = completed(
        _response(state, strategy, tells_text=expose_steps), state["request"], record, tells_errors=expose_steps
    )
    if door is not None:
        await door.end(record, ended_row(response, state["request"]))
    return Returned(
        **departure(response),
        queries=[],
        found=Overwrite({}),
        answered=Overwrite({}),
        passages=[],
        draft=None,
        best=None,
        trace=Overwrite({}),
        sub_answers=[],
    )


def _response(state: MultiQueryState, strategy: RetrievalStrategy, *, tells_text: bool) -> RAGResponse:
    best, trace = state["best"], state["trace"]
    assert best is not None, "the graph ends only after a draft or a refusal"
    queries: Sequence[TracedQuery] = trace["queries"]
    return response_from(
        best,
        strategy,
        len({hit["chunk_id"] for query in queries for hit in query["ranked"]}),
        tokens_used=sum(state["tokens"].values()),
        sub_answers=tuple(SubAnswer.model_validate(part) for part in state["sub_answers"]),
        trace={
            **trace,
            "failures": _failures(queries),
            "note": best["verdict"]["note"],
            **policy_trace(best["verdict"], tells_text=tells_text),
        },
    )


def _failures(queries: Sequence[TracedQuery]) -> list[dict[str, str]]:
    return [{"query": query["query"], "error": query["error"]} for query in queries if query["error"]]
