"""Rewordings of a question by the chat model: what RAG-Fusion and corrective retrieval search for beside it."""

from typing import NamedTuple

from langchain_core.runnables import RunnableConfig

from citeloop.models.chat_caller import ChatCaller, ChatReply
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.retrieval.query_replies import ReadQueries, read_rewrites
from citeloop.state.config import RAGConfig
from citeloop.state.multi_query_config import RagFusionConfig


class Rewordings(NamedTuple):
    """What could be read of the model's reply: nothing where it gave none."""

    read: ReadQueries
    reply: ChatReply


async def ask_rewordings(
    question: str,
    settings: RAGConfig | RagFusionConfig,
    config: RunnableConfig,
    *,
    caller: ChatCaller,
    prompt: Prompt,
) -> Rewordings:
    """Ask for ``rewrites`` rewordings of ``question``; a failure is told in the reply, never raised."""
    reply = await caller.attempt(
        fill(prompt, {"question": question, "n": str(settings.rewrites)}),
        config,
        name="rewrite",
        prompt=prompt.name,
        timeout_s=settings.model_timeout_s,
    )
    return Rewordings(read_rewrites(reply.text, question, settings.rewrites), reply)
