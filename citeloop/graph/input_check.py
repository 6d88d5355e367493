"""What a run is started with, checked: LangGraph drops, or chokes on, what it does not expect."""

from collections.abc import Collection, Mapping
from typing import Any

from langchain_core.messages import BaseMessage, convert_to_messages
from langgraph.types import Command

from citeloop.errors import InvalidRequest

MAX_MESSAGES_CHARACTERS = 20_000
_MESSAGE = '{"role": "human", "content": "..."}'


def checked_input(input: Any, known: Collection[str], *, resumable: bool = True) -> Any:
    """``input`` as the graph takes it, its messages read.

    ``known`` are the keys that it may have, ``resumable`` says whether threads keep the steps that a run could go on
    from. Raises ``InvalidRequest``.
    """
    if isinstance(input, Mapping):
        _refuse_unknown(input, known)
        return {**input, "messages": _read_messages(input["messages"])} if "messages" in input else input
    if not isinstance(input, Command | None):
        raise InvalidRequest(f"the input is an object; its keys are {', '.join(sorted(known))}")
    if isinstance(input, Command) and input.resume is None and not input.goto and not input.update:
        raise InvalidRequest("the command is empty; give it something to resume with")
    if not resumable and (input is None or input.resume is None or input.goto or input.update):
        raise InvalidRequest("threads keep no steps here, so a run cannot go on from one; ask the question again")
    return input


def _refuse_unknown(input: Mapping[str, Any], known: Collection[str]) -> None:
    unknown = sorted(map(str, input.keys() - set(known)))
    if unknown:  # dropped silently, a misspelt `corpora` would widen the search to everything
        told = ", ".join(repr(key[:80]) for key in unknown[:5])
        raise InvalidRequest(f"unknown input {told}; the inputs are {', '.join(sorted(known))}")


def _read_messages(messages: Any) -> list[BaseMessage]:
    """Before they reach the channel, where one that cannot be read would stay and spoil the thread for good."""
    if not isinstance(messages, list | tuple):
        raise InvalidRequest(f"messages is a list of messages such as {_MESSAGE}")
    try:
        read = convert_to_messages(messages)
        size = sum(len(str(message.content)) for message in read)
    except Exception as error:  # of many kinds, with texts of many lines
        raise InvalidRequest(f"messages cannot be read ({type(error).__name__}); each is like {_MESSAGE}") from None
    if size > MAX_MESSAGES_CHARACTERS:
        raise InvalidRequest(f"messages have {size} characters, {MAX_MESSAGES_CHARACTERS} are allowed in one input")
    return read
