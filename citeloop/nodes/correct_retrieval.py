"""A second search in other words, as no passage was good enough (Corrective RAG, Yan et al. 2024)."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.retrieval.query_plan import in_hop, queries_of, trace_plan
from citeloop.retrieval.rewordings import ask_rewordings
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Query, QueryState


class Corrected(TypedDict):
    """The question and its rewordings; the question alone where the model gave none to read."""

    queries: list[Query]
    hop: int
    trace: dict[str, Any]
    tokens: dict[str, int]


async def correct_retrieval(
    state: QueryState, runtime: Runtime[RAGConfig], config: RunnableConfig, *, caller: ChatCaller, prompt: Prompt
) -> Corrected:
    """Rewrite the question, at most ``rewrites`` times, for one more search. What was found stays a candidate."""
    settings, question = run_config(runtime.context, state["request"]), state["request"]["question"]
    read, reply = await ask_rewordings(question, settings, config, caller=caller, prompt=prompt)
    hop = state["hop"] + 1
    return Corrected(
        queries=[*state["queries"], *in_hop(queries_of(read.kept, "rewrite"), hop)],
        hop=hop,
        trace={"corrective_retrieval": trace_plan(read, reply.failure)},
        tokens={"correct_retrieval": reply.tokens},
    )
