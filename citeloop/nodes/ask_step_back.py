"""The more general question behind the question (Step-back query, step 1)."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.query_plan import plan_searches_for
from citeloop.retrieval.query_replies import read_step_back
from citeloop.state.multi_query_config import StepBackConfig
from citeloop.state.multi_query_state import DocumentSearchTask, MultiQueryTrace, QueryOrigin, StepBackState


class SteppedBack(TypedDict):
    """The searches to run."""

    step_back_question: str
    searches: list[DocumentSearchTask]
    found: Overwrite
    trace: MultiQueryTrace
    tokens: dict[str, int]


async def ask_step_back(
    state: StepBackState,
    runtime: Runtime[StepBackConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> SteppedBack:
    """The question and the step-back question; the question alone where the model gave none to read."""
    settings, question = runtime.context, state["request"]["question"]
    reply = await caller.attempt(
        fill(prompt, {"question": question}),
        config,
        name="step_back",
        prompt=prompt.name,
        timeout_s=settings.model_timeout_s,
    )
    general = read_step_back(reply.text, question)
    queries: list[tuple[str, QueryOrigin]] = [(question, "question")]
    if general:
        queries.append((general, "step_back"))
    unread = "" if general else "the reply holds no more general question"
    return SteppedBack(
        step_back_question=general,
        searches=plan_searches_for(queries, settings.k, settings.search_timeout_s),
        found=Overwrite({}),
        trace=MultiQueryTrace(dropped_queries=[], fallback=reply.failure or unread, step_back_question=general),
        tokens={"ask_step_back": reply.tokens},
    )
