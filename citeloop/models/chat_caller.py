"""The one way in which nodes call a chat model."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from langgraph.constants import TAG_NOSTREAM

from citeloop.errors import ModelError, ModelReplyInvalid
from citeloop.models.chat import translate_model_error
from citeloop.text.thinking import strip_thinking
from citeloop.text.tokens import count_tokens
from citeloop.workers import WorkerPool

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_log = logging.getLogger(__name__)


class ChatReply(NamedTuple):
    """What the model wrote, its thinking left out, and the tokens of the whole call."""

    text: str
    tokens: int
    failure: str = ""
    """Why there is no text; empty when there is one."""
    tokens_out: int = 0
    """Of the tokens, those that the model wrote."""


@dataclass(frozen=True, slots=True)
class ChatCaller:
    """Calls ``llm``, in ``workers`` where it has no asynchronous face of its own.

    Calls are tagged so that token streams do not show them: what leaves a graph is checked text only.
    """

    llm: BaseChatModel
    workers: WorkerPool

    @property
    def streams(self) -> bool:
        """Whether the model has an asynchronous stream of its own."""
        return type(self.llm)._astream is not BaseChatModel._astream and not self.llm.disable_streaming

    async def call(
        self,
        messages: list[BaseMessage],
        config: RunnableConfig,
        *,
        name: str,
        prompt: str,
        told: Mapping[str, Any] = _NOTHING,
        timeout_s: float | None = None,
        on_text: Callable[[str], None] | None = None,
        **options: Any,
    ) -> ChatReply:
        """The reply to ``messages``; ``name``, ``prompt`` and what else is ``told`` show in traces, ``options`` go to
        the model. ``on_text`` hears the text as it is written; not at all of a model that has no stream of its own.

        Raises ``ModelError``; ``ModelTimeout`` after ``timeout_s`` seconds.
        """
        call = RunnableConfig(
            run_name=name, tags=[TAG_NOSTREAM, f"citeloop:{name}"], metadata={"prompt": prompt, **told}
        )
        try:
            async with asyncio.timeout(timeout_s):
                reply = await self._reply(messages, merge_configs(config, call), options, on_text)
        except Exception as error:
            raise translate_model_error(error, self.llm) from None  # the provider's own words may quote the key
        text = _clean(reply.text)
        if not text:
            raise ModelReplyInvalid("the model's reply holds no text; check the endpoint and the model's name")
        tokens_in, tokens_out = _tokens(messages, reply)
        return ChatReply(text, tokens_in + tokens_out, tokens_out=tokens_out)

    async def attempt(
        self, messages: list[BaseMessage], config: RunnableConfig, *, name: str, prompt: str, timeout_s: float
    ) -> ChatReply:
        """As ``call``, for a step that the run can do without: a failure is logged and told in the reply."""
        try:
            return await self.call(messages, config, name=name, prompt=prompt, timeout_s=timeout_s)
        except ModelError as error:
            _log.warning("the call %s dropped out: %s", name, error)
            return ChatReply("", 0, f"{error.code}: {error}")

    async def _reply(
        self,
        messages: list[BaseMessage],
        config: RunnableConfig,
        options: dict[str, Any],
        on_text: Callable[[str], None] | None,
    ) -> AIMessage:
        if on_text is None or not self.streams:
            return await self._invoke(messages, config, options)
        chunks: list[AIMessageChunk] = []
        async for chunk in self.llm.astream(messages, config, **options):
            chunks.append(chunk)
            on_text(_whole_characters(chunk.text))
        return add_ai_message_chunks(*chunks)

    async def _invoke(self, messages: list[BaseMessage], config: RunnableConfig, options: dict[str, Any]) -> AIMessage:
        if _is_sync_only(self.llm):  # LangChain would run it in asyncio's own pool, which is small and not ours to size
            return await self.workers.run(self.llm.invoke, messages, config, **options)
        return await self.llm.ainvoke(messages, config, **options)


def _clean(text: str) -> str:
    """The reply without its thinking."""
    return _whole_characters(strip_thinking(text)).strip()


def _whole_characters(text: str) -> str:
    """``text`` with unpaired surrogates, which no store, stream or tokenizer takes, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _is_sync_only(llm: BaseChatModel) -> bool:
    cls = type(llm)
    return cls._agenerate is BaseChatModel._agenerate and cls._astream is BaseChatModel._astream


def _tokens(messages: list[BaseMessage], reply: AIMessage) -> tuple[int, int]:
    """Tokens in and out, counted here where the provider does not tell."""
    if usage := reply.usage_metadata:
        return usage["total_tokens"] - usage["output_tokens"], usage["output_tokens"]
    return sum(count_tokens(message.text) for message in messages), count_tokens(reply.text)
