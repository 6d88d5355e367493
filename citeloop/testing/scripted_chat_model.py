"""A chat model that says what a test tells it to."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from threading import Lock
from typing import Any, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field, PrivateAttr

from citeloop.text.tokens import count_tokens

Reply: TypeAlias = str | Exception
"""Text to answer, or an error to raise."""


class ScriptedChatModel(BaseChatModel):
    """Answers from a queue of replies, or by a function of the messages; records what it was asked. Thread-safe.

    Exceptions among the replies are raised. A queue that runs out fails the call with AssertionError. Streams word by
    word and counts usage, as a real model does.

    >>> model = ScriptedChatModel(replies=["The fee is 12 euros [1].", TimeoutError()])
    >>> model.invoke("What is the fee?").text
    'The fee is 12 euros [1].'
    >>> model.prompts
    ['What is the fee?']
    >>> ScriptedChatModel(replies=lambda messages: messages[-1].text.upper()).invoke("hi").text
    'HI'
    """

    replies: Sequence[Reply] | Callable[[list[BaseMessage]], Reply]
    """Replies in order of the calls, or a function from the messages of a call to its reply."""
    delay_s: float = Field(default=0.0, ge=0)
    """Seconds before a reply begins."""

    _calls: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _lock: Lock = PrivateAttr(default_factory=Lock)

    @property
    def calls(self) -> list[list[BaseMessage]]:
        """The messages of each call, in the order in which the calls began."""
        return [list(messages) for messages in self._calls]

    @property
    def prompts(self) -> list[str]:
        """The text of each call: its messages, with a blank line between them."""
        return ["\n\n".join(message.text for message in messages) for messages in self._calls]

    @property
    def _llm_type(self) -> str:
        return "scripted-chat-model"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = self._next_reply(messages)
        time.sleep(self.delay_s)
        return _result(messages, reply)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        reply = self._next_reply(messages)
        await asyncio.sleep(self.delay_s)
        return _result(messages, reply)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._next_reply(messages)
        time.sleep(self.delay_s)
        for chunk in _chunks(messages, reply):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        reply = self._next_reply(messages)
        await asyncio.sleep(self.delay_s)
        for chunk in _chunks(messages, reply):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _next_reply(self, messages: list[BaseMessage]) -> Reply:
        with self._lock:
            number = len(self._calls)
            self._calls.append(list(messages))
        if callable(self.replies):
            return self.replies(messages)
        assert number < len(self.replies), f"the script has {len(self.replies)} replies, this is call {number + 1}"
        return self.replies[number]


def _text_of(reply: Reply) -> str:
    if isinstance(reply, Exception):
        raise reply
    return reply


def _result(messages: list[BaseMessage], reply: Reply) -> ChatResult:
    text = _text_of(reply)
    return ChatResult(
        generations=[ChatGeneration(message=AIMessage(content=text, usage_metadata=_usage(messages, text)))]
    )


def _chunks(messages: list[BaseMessage], reply: Reply) -> Iterator[ChatGenerationChunk]:
    text = _text_of(reply)
    for word in re.findall(r"\s*\S+\s*$|\s*\S+", text):
        yield ChatGenerationChunk(message=AIMessageChunk(content=word))
    yield ChatGenerationChunk(
        message=AIMessageChunk(content="", usage_metadata=_usage(messages, text), chunk_position="last")
    )


def _usage(messages: list[BaseMessage], text: str) -> UsageMetadata:
    read, written = sum(count_tokens(message.text) for message in messages), count_tokens(text)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
