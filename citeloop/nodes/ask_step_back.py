"""The more general question behind the question (Step-back query, step 1)."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.query_plan import queries_of
from citeloop.retrieval.query_replies import read_step_back
from citeloop.state.config import RAGConfig, overridden
from citeloop.state.graph_state import Query, QueryState
from citeloop.state.multi_query_config import StepBackConfig
from citeloop.state.multi_query_state import MultiQueryState, MultiQueryTrace


class SteppedBack(TypedDict):
    """What to search for."""

    queries: list[Query]
    trace: MultiQueryTrace
    tokens: dict[str, int]


async def ask_step_back(
    state: QueryState | MultiQueryState,
    runtime: Runtime[RAGConfig | StepBackConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> SteppedBack:
    """The question and the step-back question; the question alone where the model gave none to read."""
    settings, question = overridden(runtime.context, state["request"]), state["request"]["question"]
    reply = await caller.attempt(
        fill(prompt, {"question": question}),
        config,
        name="step_back",
        prompt=prompt.name,
        timeout_s=settings.model_timeout_s,
    )
    general = read_step_back(reply.text, question)
    unread = "" if general else "the reply holds no more general question"
    return SteppedBack(
        queries=[*queries_of([question], "question"), *queries_of(filter(None, [general]), "step_back")],
        trace=MultiQueryTrace(dropped_queries=[], fallback=reply.failure or unread, step_back_question=general),
        tokens={"ask_step_back": reply.tokens},
    )
