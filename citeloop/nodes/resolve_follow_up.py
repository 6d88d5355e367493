"""A follow-up question becomes one that stands alone, by the turns before it."""

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from citeloop.chat_commands import parse_chat_command
from citeloop.errors import RequestError
from citeloop.models.chat_caller import ChatCaller, ChatReply
from citeloop.models.follow_up_writer import standing_question
from citeloop.prompts.conversation import Turn, render_turns
from citeloop.prompts.library import Prompt
from citeloop.prompts.multi_query import fill
from citeloop.prompts.refusals import is_refusal
from citeloop.retrieval.small_talk import is_courtesy
from citeloop.state.config import RAGConfig, run_config
from citeloop.state.graph_state import QueryState, Request
from citeloop.text.reply_lists import read_list

_MOST_TURNS = 4
_MOST_CHARACTERS = 1_000
"""Of each question and answer that is read."""

_MARKER = re.compile(r"\s*\[[\w, -]{1,20}\]")


class Resolved(TypedDict, total=False):
    """The request with the standing question in place of the asker's words, where they differ."""

    request: Request
    trace: dict[str, Any]
    tokens: dict[str, int]


async def resolve_follow_up(
    state: QueryState, runtime: Runtime[RAGConfig], config: RunnableConfig, *, caller: ChatCaller, prompt: Prompt
) -> Resolved:
    """Ask the model for the standing question; carry the topic over by words where it gives none to read.

    Only what was said is read of the turns before: no passage, corpus or reason of theirs. Thanks and greetings stay.
    """
    asked, turns = state["request"]["question"], earlier_turns(state["messages"])
    if not turns or is_courtesy(asked):
        return Resolved()
    reply = await caller.attempt(
        fill(prompt, {"question": asked}, {"conversation": render_turns(turns)}),
        config,
        name="standalone_question",
        prompt=prompt.name,
        timeout_s=run_config(runtime.context, state["request"]).model_timeout_s,
    )
    written = _read(reply)
    question = written or standing_question(asked, turns)
    told = {
        "asked": asked,
        "question": question,
        "fallback": "" if written else reply.failure or "no question in reply",
    }
    update = Resolved(trace={"follow_up": told}, tokens={"resolve_follow_up": reply.tokens})
    if question != asked:
        update["request"] = Request(**{**state["request"], "question": question, "asked": asked})
    return update


def earlier_turns(messages: Sequence[AnyMessage]) -> list[Turn]:
    """The last turns before the question that is asked now, oldest first, without citation marks and source lists."""
    turns: list[Turn] = []
    for message in messages[:-1]:
        if message.type == "human":
            turns.append(Turn(_cut(_question_in(message.text)), ""))
        elif message.type == "ai" and turns:
            said = str(message.additional_kwargs.get("answer") or message.text)
            turns[-1] = Turn(turns[-1].question, _cut(_MARKER.sub("", said)))
    return [turn for turn in turns[-_MOST_TURNS:] if turn.question]


def _question_in(text: str) -> str:
    """What was asked, without the corpora and the reason that a chat command names; nothing of one that was refused."""
    try:
        command = parse_chat_command(text, access_reason="")
    except RequestError:
        return ""
    return command.question if command else text


def _cut(text: str) -> str:
    return text.strip()[:_MOST_CHARACTERS]


def _read(reply: ChatReply) -> str:
    """The question: all of a reply of one line, which may ask two things; the first of several lines."""
    items = [item for item in read_list(reply.text) if not is_refusal(item)]
    return " ".join(items if "\n" not in reply.text.strip() else items[:1])
