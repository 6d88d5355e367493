"""A correction round: more context, from around the passages first, then from a wider search."""

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.prompt_passages import split_background
from citeloop.retrieval.query_plan import query_from
from citeloop.state.graph_state import Candidate, Correction, QueryState
from citeloop.workers import WorkerPool


class Expanded(TypedDict):
    """The candidates with what stands around them, or the decision to search wider."""

    round: int
    hop: int
    correction: Correction
    corrections_tried: list[str]
    candidates: list[Candidate]


async def expand_context(
    state: QueryState, config: RunnableConfig, *, reader: PassageReader, workers: WorkerPool
) -> Expanded:
    """Add neighbours and parent sections of the passages; where there are none to add, search wider in this round.

    Background is not added to. Sub-questions are searched wider at once: each has a context of its own.
    """
    tried = [*state["corrections_tried"], state["correction"]]
    base = [
        Candidate(
            chunk_id=p["chunk_id"],
            corpus=p["corpus"],
            document_uri=p["uri"],
            score=p["score"],
            origin=p.get("origin", "question"),
        )
        for p in state["passages"]
    ]
    around: list[Candidate] = []
    if state["correction"] == "neighbours" and not query_from(state["queries"], "sub_question"):
        known = {member for p in state["passages"] for member in p.get("members", [p["chunk_id"]])}
        specific, _ = split_background(base)
        found = await workers.run(reader.around, specific, caller_of(config))
        around = [candidate for candidate in found if candidate["chunk_id"] not in {*known, *state["excluded_ids"]}]
    if around:
        return Expanded(
            round=state["round"] + 1,
            hop=0,
            correction="neighbours",
            corrections_tried=tried,
            candidates=[*base, *around],
        )
    return Expanded(
        round=state["round"] + 1,
        hop=0,
        correction="widen",
        corrections_tried=[*tried, "widen"],
        candidates=state["candidates"],
    )
