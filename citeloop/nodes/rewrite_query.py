"""Several rewordings of the question, each a query of its own (RAG-Fusion, step 1)."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.query_plan import plan_searches_for, trace_plan
from citeloop.retrieval.query_replies import read_rewrites
from citeloop.state.multi_query_config import RagFusionConfig
from citeloop.state.multi_query_state import DocumentSearchTask, MultiQueryTrace, QueryOrigin, RagFusionState


class Rewritten(TypedDict):
    """The searches to run."""

    searches: list[DocumentSearchTask]
    found: Overwrite
    trace: MultiQueryTrace
    tokens: dict[str, int]


async def rewrite_query(
    state: RagFusionState,
    runtime: Runtime[RagFusionConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> Rewritten:
    """The question and at most ``rewrites`` rewordings of it; the question alone where the model gave none to read."""
    settings, question = runtime.context, state["request"]["question"]
    reply = await caller.attempt(
        fill(prompt, {"question": question, "n": str(settings.rewrites)}),
        config,
        name="rewrite",
        prompt=prompt.name,
        timeout_s=settings.model_timeout_s,
    )
    read = read_rewrites(reply.text, question, settings.rewrites)
    queries: list[tuple[str, QueryOrigin]] = [(question, "question")]
    queries += [(rewrite, "rewrite") for rewrite in read.kept]
    return Rewritten(
        searches=plan_searches_for(queries, settings.depth, settings.search_timeout_s),
        found=Overwrite({}),
        trace=trace_plan(read, reply.failure),
        tokens={"rewrite_query": reply.tokens},
    )
