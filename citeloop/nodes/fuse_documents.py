"""From one ranked list a query to one list (RAG-Fusion, steps 3 and 4)."""

import logging

from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.prompts.library import Prompt
from citeloop.retrieval.found_documents import passages_by_id, require_one_answer, trace_query
from citeloop.retrieval.prompt_passages import number_fitting
from citeloop.retrieval.query_fusion import trace_fusion
from citeloop.retrieval.rank_fusion import reciprocal_rank_fusion
from citeloop.state.graph_state import Passage
from citeloop.state.multi_query_config import RagFusionConfig
from citeloop.state.multi_query_state import MultiQueryState, MultiQueryTrace

_log = logging.getLogger(__name__)

_TRACED = 20
"""Fused documents kept in the trace."""


class FusedDocuments(TypedDict):
    """The documents for the generator. The raw lists leave the state here; the trace keeps their ids."""

    passages: list[Passage]
    found: Overwrite
    trace: MultiQueryTrace


async def fuse_documents(
    state: MultiQueryState, runtime: Runtime[RagFusionConfig], *, prompt: Prompt
) -> FusedDocuments:
    """Fuse by reciprocal rank, keep the best ``k``; log each query with its ranked ids, and the fused scores.

    Raises ``SearchFailed`` when every query dropped out.
    """
    settings, found = runtime.context, list(state["found"].values())
    require_one_answer(["" if one["passages"] else one["error"] for one in found])
    fused = reciprocal_rank_fusion([[p["chunk_id"] for p in one["passages"]] for one in found], k=settings.rrf_k)
    documents = passages_by_id(passage for one in found for passage in one["passages"])
    best: list[Passage] = [{**documents[hit.id], "score": hit.score} for hit in fused[: settings.k]]
    _log.info("fused %s", [(hit.id, hit.score) for hit in fused[:_TRACED]])
    return FusedDocuments(
        passages=number_fitting(best, prompt.text + state["request"]["question"], settings),
        found=Overwrite({}),
        trace=MultiQueryTrace(
            queries=[trace_query(one) for one in found],
            fused=trace_fusion(fused[: max(_TRACED, settings.k)], [one["query"] for one in found]),
        ),
    )
