"""The draft: one model call over the numbered passages."""

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.constants import TAG_NOSTREAM
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.errors import ModelError, ModelReplyInvalid
from citeloop.models.chat import translate_model_error
from citeloop.prompts.grounded_answer import grounded_answer_messages, render_document
from citeloop.retrieval.context_budget import answer_room
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import Draft, QueryState
from citeloop.text.thinking import strip_thinking
from citeloop.text.tokens import count_tokens
from citeloop.workers import WorkerPool


class Generated(TypedDict, total=False):
    """The draft, or why there is none."""

    draft: Draft
    tokens_used: int
    model_failure: str


async def generate_answer(
    state: QueryState, runtime: Runtime[RAGConfig], config: RunnableConfig, *, llm: BaseChatModel, workers: WorkerPool
) -> Generated:
    """Ask the model for a cited draft. Raises ``ModelError``, unless an earlier round left a draft to return.

    The call is tagged so that token streams do not show it: what leaves the graph is checked text only.
    """
    messages = await workers.run(_prompt, state)
    call = RunnableConfig(
        run_name="draft",
        tags=[TAG_NOSTREAM, "citeloop:draft"],
        metadata={
            "prompt": "grounded_question",
            "round": state["round"],
            "strategy": state["analysis"]["strategy"],
        },
    )
    try:
        reply = await _call(
            llm, messages, merge_configs(config, call), run_config(runtime.context, state["request"]), workers
        )
    except ModelError as error:
        if state["best"] is None:
            raise
        return Generated(model_failure=f"{error.code}: {error}")
    draft = Draft(text=_clean(reply.text), tokens=_tokens(messages, reply))
    return Generated(draft=draft, tokens_used=state["tokens_used"] + draft["tokens"], model_failure="")


def _prompt(state: QueryState) -> list[BaseMessage]:
    documents = [render_document(p["number"], p["title"], p["heading_path"], p["text"]) for p in state["passages"]]
    return grounded_answer_messages(state["request"]["question"], documents)


async def _call(
    llm: BaseChatModel, messages: list[BaseMessage], config: RunnableConfig, settings: RAGConfig, workers: WorkerPool
) -> AIMessage:
    most = answer_room(settings)
    try:
        if _is_sync_only(llm):  # LangChain would run it in asyncio's own pool, which is small and not ours to size
            reply = await workers.run(llm.invoke, messages, config, max_tokens=most)
        else:
            reply = await llm.ainvoke(messages, config, max_tokens=most)
    except Exception as error:
        raise translate_model_error(error, llm) from None  # the provider's own words may quote the key
    if not _clean(reply.text):
        raise ModelReplyInvalid("the model's reply holds no text; check the endpoint and the model's name")
    return reply


def _clean(text: str) -> str:
    """The reply without its thinking, and with unpaired surrogates, which no store or stream takes, replaced."""
    return strip_thinking(text).encode("utf-8", "replace").decode("utf-8").strip()


def _is_sync_only(llm: BaseChatModel) -> bool:
    cls = type(llm)
    return cls._agenerate is BaseChatModel._agenerate and cls._astream is BaseChatModel._astream


def _tokens(messages: list[BaseMessage], reply: AIMessage) -> int:
    usage = reply.usage_metadata
    return usage["total_tokens"] if usage else sum(count_tokens(message.text) for message in [*messages, reply])
