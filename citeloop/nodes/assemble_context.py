"""The passages that will stand before the generator: deduplicated, ordered, within the token budget, numbered."""

import functools

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.candidate_ranking import distinct
from citeloop.retrieval.context_budget import passage_budget
from citeloop.retrieval.context_unit import ContextUnits, context_passage
from citeloop.retrieval.draft_prompt import draft_prompt
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.prompt_passages import split_background
from citeloop.retrieval.query_plan import query_from
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Candidate, Passage, QueryState
from citeloop.state.models import QueryOrigin
from citeloop.text.tokens import count_tokens
from citeloop.workers import WorkerPool


class Assembled(TypedDict):
    """The context of the next draft."""

    passages: list[Passage]


async def assemble_context(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    reader: PassageReader,
    workers: WorkerPool,
) -> Assembled:
    """Take the best candidates, once each, in order of relevance, as many as ``top_k`` and the token budget allow.

    With ``context_unit`` they are grown to their sections or documents, as far as the budget allows.

    Background comes last: where room is short, it makes way.
    """
    settings = run_config(runtime.context, state["request"])
    chosen = _choose(state, settings)
    scores = {candidate["chunk_id"]: candidate["score"] for candidate in chosen}
    origins = {candidate["chunk_id"]: candidate.get("origin", "question") for candidate in chosen}

    def assemble() -> list[Passage]:
        chunks, _ = reader.read_with_sentences(chosen, caller_of(config))
        ordered = [chunks[chunk_id] for chunk_id in scores if chunk_id in chunks]
        frame = sum(count_tokens(message.text) for message in draft_prompt(state, []).messages)
        budget = passage_budget(frame, settings)
        unit, excluded = settings.context_unit, state["excluded_ids"]
        fitting = ContextUnits(reader).fit(ordered, unit, budget, excluded, caller_of(config))
        return [
            context_passage(number, one, scores[one.chunk.id], origins[one.chunk.id])
            for number, one in enumerate(fitting, start=1)
        ]

    return Assembled(passages=await workers.run(assemble))


def _choose(state: QueryState, settings: RAGConfig) -> list[Candidate]:
    excluded = set(state["excluded_ids"])
    specific, background = split_background([c for c in state["candidates"] if c["chunk_id"] not in excluded])
    if state["correction"] == "neighbours":  # the last context and what stands around it: nothing to cut
        return distinct([*specific, *background])
    wanted = functools.partial(
        settings.passages_wanted, state["analysis"]["strategy"], widened=state["correction"] == "widen"
    )
    asked: QueryOrigin = "sub_question" if query_from(state["queries"], "sub_question") else "question"
    chosen = distinct(specific)[: wanted(asked)]
    return distinct([*chosen, *background])[: len(chosen) + wanted("step_back")]
