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
from citeloop.models.follow_up_writer import write_follow_up
from citeloop.models.grounded_writer import (
    write_answer_with_background,
    write_combination,
    write_grounded_answer,
    write_sub_answer,
)
from citeloop.models.query_writers import write_rewrites, write_step_back, write_sub_questions
from citeloop.prompts.library import load_prompt
from citeloop.prompts.refusals import NO_EVIDENCE
from citeloop.text.tokens import count_tokens

Writer = Callable[[Mapping[str, str], EvidenceJudge], str]
"""Answers a prompt from what stands in its places, as it stands there. Never raises for what that may be."""

WRITERS: Final[Mapping[str, Writer]] = MappingProxyType(
    {
        "grounded_question": write_grounded_answer,
        "fusion_answer": write_grounded_answer,
        "query_rewriter": write_rewrites,
        "decomposer": write_sub_questions,
        "sub_answer": write_sub_answer,
        "combiner": write_combination,
        "step_back": write_step_back,
        "standalone_question": write_follow_up,
        "answer_with_background": write_answer_with_background,
    }
)
"""Who answers which prompt of the library."""


class ExtractiveChatModel(BaseChatModel):
    """Quotes the sentences that answer best, each with its ``[n]``; deterministic, local, no generation.

    It reads the rendered text of citeloop's own prompts (those of ``WRITERS``, the user's own versions too); any other
    prompt gets the refusal. Where queries are asked for, it makes them of the question's own words. Async calls run in
    an executor: the event loop is never blocked.

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
        for name, write in WRITERS.items():
            values = load_prompt(name).read(prompt)
            if values is not None:
                return write(values, self.judge)
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
