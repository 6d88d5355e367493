"""The draft from the fused documents (RAG-Fusion, step 5)."""

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.models.chat_caller import ChatCaller
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.prompt_passages import render_passages
from citeloop.state.graph_state import Draft
from citeloop.state.multi_query_config import RagFusionConfig
from citeloop.state.multi_query_state import MultiQueryState


class AnsweredFromDocuments(TypedDict):
    """The draft."""

    draft: Draft
    tokens: dict[str, int]


async def answer_from_documents(
    state: MultiQueryState,
    runtime: Runtime[RagFusionConfig],
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> AnsweredFromDocuments:
    """Answer the original question, never a rewrite. Raises ``ModelError``."""
    messages = fill(
        prompt, {"question": state["request"]["question"]}, {"documents": render_passages(state["passages"])}
    )
    reply = await caller.call(
        messages, config, name="draft", prompt=prompt.name, timeout_s=runtime.context.model_timeout_s
    )
    return AnsweredFromDocuments(
        draft=Draft(text=reply.text, tokens=reply.tokens), tokens={"answer_from_documents": reply.tokens}
    )
