"""Several rewordings of the question, each a query of its own (RAG-Fusion, step 1)."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.retrieval.query_plan import queries_of, trace_plan
from citeloop.retrieval.rewordings import ask_rewordings
from citeloop.state.config import RAGConfig, overridden
from citeloop.state.graph_state import Query, QueryState
from citeloop.state.multi_query_config import RagFusionConfig
from citeloop.state.multi_query_state import MultiQueryState, MultiQueryTrace


class Rewritten(TypedDict):
    """What to search for."""

    queries: list[Query]
    trace: MultiQueryTrace
    tokens: dict[str, int]


async def rewrite_query(
    state: QueryState | MultiQueryState,
    runtime: Runtime[RAGConfig | RagFusionConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> Rewritten:
    """The question and at most ``rewrites`` rewordings of it; the question alone where the model gave none to read."""
    settings, question = overridden(runtime.context, state["request"]), state["request"]["question"]
    read, reply = await ask_rewordings(question, settings, config, caller=caller, prompt=prompt)
    return Rewritten(
        queries=[*queries_of([question], "question"), *queries_of(read.kept, "rewrite")],
        trace=trace_plan(read, reply.failure),
        tokens={"rewrite_query": reply.tokens},
    )
