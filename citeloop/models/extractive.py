"""The offline chat model: answers prompts of ours by quoting, and refuses when nothing answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import ConfigDict, Field

from citeloop.models.evidence import EvidenceJudge
from citeloop.models.grounded_writer import write_grounded_answer
from citeloop.models.prompt_reading import read_tag
from citeloop.prompts.refusals import NO_EVIDENCE
from citeloop.text.tokens import count_tokens

Writer = Callable[[str, EvidenceJudge], str]
"""Answers a prompt's text. Never raises for what a prompt may hold."""

WRITERS: Final[Mapping[frozenset[str], Writer]] = MappingProxyType(
    {frozenset({"question", "documents"}): write_grounded_answer}
)
"""Who answers which prompt, told by the tags that it holds; of several that match, the one with the most tags."""


class ExtractiveChatModel(BaseChatModel):
    """Quotes the sentences that answer best, each with its ``[n]``; deterministic, local, no generation.

    It reads the rendered text of citeloop's own prompts (``<question>``, ``<documents>``); any other prompt gets the
    refusal. Async calls run in an executor: the event loop is never blocked.

        ExtractiveChatModel(judge=RelevanceJudge(embedder)).invoke(grounded_answer_messages(question, documents))
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    judge: EvidenceJudge = Field(exclude=True, repr=False, description="Scores sentences against the question.")
    model_name: str = Field(default="citeloop-extractive", description="Name in traces.")

    @property
    def _llm_type(self) -> str:
        return self.model_name

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        """``max_tokens`` and other sampling arguments are accepted and have nothing to act on."""
        answer = _cut_at_stop(self._answer(messages), stop)
        message = AIMessage(
            content=answer, usage_metadata=_usage(messages, answer), response_metadata={"model_name": self.model_name}
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        """A chunk per word; the last one carries the usage."""
        answer = _cut_at_stop(self._answer(messages), stop)
        for piece in _pieces(answer):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece))
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk
        last = AIMessageChunk(
            content="",
            usage_metadata=_usage(messages, answer),
            response_metadata={"model_name": self.model_name},
            chunk_position="last",
        )
        yield ChatGenerationChunk(message=last)

    def _answer(self, messages: Sequence[BaseMessage]) -> str:
        prompt = next((message.text for message in reversed(messages) if message.type == "human"), "")
        return _writer_for(prompt)(prompt, self.judge)


def _writer_for(prompt: str) -> Writer:
    matching = [tags for tags in WRITERS if all(read_tag(prompt, tag) is not None for tag in tags)]
    return WRITERS[max(matching, key=len)] if matching else _refuse


def _refuse(prompt: str, judge: EvidenceJudge) -> str:
    return NO_EVIDENCE


def _pieces(answer: str) -> Iterator[str]:
    start = 0
    for end in (index + 1 for index, character in enumerate(answer) if character == " "):
        yield answer[start:end]
        start = end
    yield answer[start:]


def _cut_at_stop(answer: str, stop: Sequence[str] | None) -> str:
    cuts = [at for word in stop or () if (at := answer.find(word)) >= 0]
    return answer[: min(cuts)] if cuts else answer


def _usage(messages: Sequence[BaseMessage], answer: str) -> UsageMetadata:
    read, written = sum(count_tokens(message.text) for message in messages), count_tokens(answer)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
