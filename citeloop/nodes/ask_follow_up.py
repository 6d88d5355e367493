"""The queries of the next hop, from what the last one found (ADR-031, _generate_follow_up)."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.knowledge.corpus import Chunk, ChunkSentences
from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.candidate_ranking import distinct
from citeloop.retrieval.follow_ups import READ_FOR_BRIDGES, RankedChunk, follow_up_of_model, write_follow_ups
from citeloop.retrieval.passages import PassageReader, numbered_passage
from citeloop.retrieval.prompt_passages import number_fitting, render_passages
from citeloop.retrieval.query_plan import in_hop
from citeloop.retrieval.query_replies import ReadQueries, needs_nothing, read_follow_ups
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Query, QueryState
from citeloop.workers import WorkerPool


class FollowedUp(TypedDict):
    """The queries so far and those of the next hop; none of that hop where nothing leads on."""

    queries: list[Query]
    hop: int
    trace: dict[str, Any]
    tokens: dict[str, int]


async def ask_follow_up(
    state: QueryState,
    runtime: Runtime[RAGConfig],
    config: RunnableConfig,
    *,
    reader: PassageReader,
    caller: ChatCaller,
    prompt: Prompt,
    workers: WorkerPool,
) -> FollowedUp:
    """Ask the model what to look for next; where it says nothing that can be searched, follow the names in the best
    passages. Queries that were asked already are left out."""
    settings, hop = run_config(runtime.context, state["request"]), state["hop"] + 1
    ranked = await workers.run(_read, state, reader, config)
    reply = await caller.attempt(
        _filled(prompt, state, ranked, settings),
        config,
        name="follow_up",
        prompt=prompt.name,
        timeout_s=settings.model_timeout_s,
    )
    asked = [query["text"] for query in state["queries"]]
    read = read_follow_ups(reply.text, asked, settings.follow_ups)
    by_model = bool(read.kept) or needs_nothing(reply.text)
    found = await workers.run(_write, read if by_model else None, state, ranked, settings)
    told = {
        "hop": hop + 1,
        "written_by": "model" if by_model else "names in the passages",
        "dropped_queries": [{"query": query, "reason": reason} for query, reason in read.dropped],
        "fallback": reply.failure,
    }
    return FollowedUp(
        queries=[*state["queries"], *in_hop((query for query in found if query["text"] not in asked), hop)],
        hop=hop,
        trace={"follow_ups": [*state["trace"].get("follow_ups", ()), told]},
        tokens={f"ask_follow_up|{hop}": reply.tokens},
    )


def _read(state: QueryState, reader: PassageReader, config: RunnableConfig) -> list[RankedChunk]:
    best = distinct(state["candidates"])[:READ_FOR_BRIDGES]
    chunks, sentences = reader.read_with_sentences(best, caller_of(config))
    return [
        RankedChunk(chunk, tuple(chunk.text[start:end] for start, end in _spans(sentences, chunk)), one["score"])
        for one in best
        if (chunk := chunks.get(one["chunk_id"])) is not None
    ]


def _spans(sentences: Mapping[str, ChunkSentences], chunk: Chunk) -> Sequence[tuple[int, int]]:
    stored = sentences.get(chunk.id)
    return stored.spans if stored else [(0, len(chunk.text))]


def _filled(prompt: Prompt, state: QueryState, ranked: Sequence[RankedChunk], settings: RAGConfig) -> list[BaseMessage]:
    coverage, question = state["coverage"], state["request"]["question"]
    shown = number_fitting(
        [numbered_passage(number, one.chunk, one.score) for number, one in enumerate(ranked, start=1)],
        prompt.text + question,
        settings,
    )
    told = {
        "question": question,
        "open": ", ".join(coverage["open"]) if coverage else "",
        "n": str(settings.follow_ups),
    }
    return fill(prompt, told, {"documents": render_passages(shown)})


def _write(
    read: ReadQueries | None, state: QueryState, ranked: Sequence[RankedChunk], settings: RAGConfig
) -> list[Query]:
    """Those of the model, where it was read; else those that the names in the passages make."""
    question = state["request"]["question"]
    if read is not None:
        return [follow_up_of_model(text, question, ranked) for text in read.kept]
    good = [one.chunk for one in ranked if one.score >= settings.similarity_threshold]
    known = [query.get("about", "") for query in state["queries"]]
    return write_follow_ups(question, ranked, good, known, settings.follow_ups)
