"""The last step of a multi-query graph: the response, with how it came about."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.governance.run_record import run_record_of
from citeloop.retrieval.prompt_passages import as_source
from citeloop.state.models import (
    Citation,
    RAGResponse,
    RetrievalContext,
    RetrievalStrategy,
    SubAnswer,
)
from citeloop.state.multi_query_state import MultiQueryState, TracedQuery
from citeloop.verification.refusal import status_of


class Returned(TypedDict):
    """What leaves the graph."""

    answer: str
    response: dict[str, Any]
    messages: list[AnyMessage]
    passages: list[Any]
    best: None
    trace: Overwrite
    sub_answers: list[Any]


async def return_response(state: MultiQueryState, config: RunnableConfig, *, strategy: RetrievalStrategy) -> Returned:
    """The checked answer with its citations, its sources, its sub-answers and its trace.

    In the conversation it stands as Markdown, sources included. What only the steps needed leaves the state, so that
    threads stay small; the checkpoints before this one keep it for debugging.
    """
    best = state["best"]
    assert best is not None, "the graph ends only after a draft or a refusal"
    verdict, trace = best["verdict"], state["trace"]
    sources = () if verdict["refused"] else tuple(map(as_source, best["passages"]))
    response = RAGResponse(
        answer=verdict["answer"],
        status=status_of(verdict),
        citations=tuple(Citation.model_validate(citation) for citation in verdict["citations"]),
        confidence=verdict["confidence"],
        sources=sources,
        strategy_used=strategy,
        tokens_used=sum(state["tokens"].values()),
        context_used=RetrievalContext(
            chunks=sources, strategy_used=strategy, total_retrieved=len(_retrieved(trace["queries"]))
        ),
        sub_answers=tuple(SubAnswer.model_validate(part) for part in state["sub_answers"]),
        request_id=state["request"]["request_id"],
        trace={**trace, "failures": _failures(trace["queries"]), "note": verdict["note"]},
        timings_ms=dict(run_record_of(config).timings_ms),
    )
    return Returned(
        answer=response.answer,
        response=response.model_dump(mode="json"),
        messages=[AIMessage(response.to_markdown(), additional_kwargs={"answer": response.answer})],
        passages=[],
        best=None,
        trace=Overwrite({}),
        sub_answers=[],
    )


def _retrieved(queries: Sequence[TracedQuery]) -> set[str]:
    return {hit["chunk_id"] for query in queries for hit in query["ranked"]}


def _failures(queries: Sequence[TracedQuery]) -> list[dict[str, str]]:
    return [{"query": query["query"], "error": query["error"]} for query in queries if query["error"]]
