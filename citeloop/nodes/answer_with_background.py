"""The draft from specific and background documents (Step-back query, step 3)."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.prompt_passages import render_passages, split_background
from citeloop.retrieval.query_plan import query_from
from citeloop.state.graph_state import Draft
from citeloop.state.multi_query_config import StepBackConfig
from citeloop.state.multi_query_state import MultiQueryState


class AnsweredWithBackground(TypedDict):
    """The draft."""

    draft: Draft
    tokens: dict[str, int]


async def answer_with_background(
    state: MultiQueryState,
    runtime: Runtime[StepBackConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> AnsweredWithBackground:
    """Answer the question, each set of documents inside its own tags. Raises ``ModelError``."""
    general = query_from(state["queries"], "step_back")
    texts = {"question": state["request"]["question"], "step_back_question": general}
    specific, background = split_background(state["passages"])
    elements = {"background_docs": render_passages(background), "specific_docs": render_passages(specific)}
    reply = await caller.call(
        fill(prompt, texts, elements),
        config,
        name="draft",
        prompt=prompt.name,
        timeout_s=runtime.context.model_timeout_s,
    )
    return AnsweredWithBackground(
        draft=Draft(text=reply.text, tokens=reply.tokens), tokens={"answer_with_background": reply.tokens}
    )
