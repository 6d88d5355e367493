"""How the checked answer leaves: sentence by sentence, in the message stream and as custom events (docs/streaming.md).

The node that lets it go has made the ended row durable before.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.graph.message import push_message
from langgraph.runtime import Runtime

from citeloop.state.models import AnswerClaim, RAGResponse
from citeloop.state.stream_events import answer_sentence

RELEASING = frozenset({"audit_response", "return_response"})
"""The last nodes of the graphs."""


def release_answer(node: str, update: Mapping[str, Any], runtime: Runtime[Any]) -> None:
    """Stream the answer in ``update``, the ``Departure`` of ``node``: its sentences, then what the message tells of its
    sources. The message itself, under the same id, is in the state only, so that no stream shows it twice."""
    response = RAGResponse.model_validate(update["response"])
    message: AIMessage = update["messages"][-1]
    begins_with_answer = message.text.startswith(response.answer)
    for number, (sentence, claim) in enumerate(cut_at_claims(response), start=1):
        runtime.stream_writer(answer_sentence(sentence, claim, number, node=node))
        if begins_with_answer:
            push_message(AIMessageChunk(content=sentence, id=message.id), state_key=None)
    rest = message.text[len(response.answer) :] if begins_with_answer else message.text
    last = AIMessageChunk(
        content=rest, id=message.id, additional_kwargs=message.additional_kwargs, chunk_position="last"
    )
    push_message(last, state_key=None)


def cut_at_claims(response: RAGResponse) -> Iterator[tuple[str, AnswerClaim | None]]:
    """The answer in stretches that begin where a claim does, each with its claim; whole where it has none."""
    answer, claims = response.answer, response.claims
    starts = [0, *(_start(answer, before, claim) for before, claim in pairwise(claims)), len(answer)]
    for index, (start, end) in enumerate(pairwise(starts)):
        yield answer[start:end], claims[index] if claims else None


def _start(answer: str, before: AnswerClaim, claim: AnswerClaim) -> int:
    """A bullet before the claim on its line goes with it."""
    start = claim.span_in_response[0]
    return answer.rfind("\n", before.span_in_response[1], start) + 1 or start
