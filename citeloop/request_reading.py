"""The inputs of a graph, or what was said in a chat, read as one question's request: the same in every graph."""

import time
import uuid
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, ValidationError

from citeloop.chat_commands import parse_chat_command
from citeloop.errors import InvalidRequest
from citeloop.state.config import ReviewPolicy
from citeloop.state.graph_state import Command, Request

MAX_QUESTION_CHARACTERS: Final = 20_000
MAX_REASON_CHARACTERS: Final = 2_000


class _Inputs(BaseModel):
    """What a caller may send, as it must be."""

    question: str = Field(max_length=MAX_QUESTION_CHARACTERS)
    corpora: list[Annotated[str, Field(max_length=MAX_REASON_CHARACTERS)]] | None = Field(min_length=1)
    access_reason: str = Field(max_length=MAX_REASON_CHARACTERS)
    command: Command
    overrides: dict[str, Any] = {}


def read_request(state: Mapping[str, Any], review: ReviewPolicy = "off") -> Request:
    """The request in the inputs of ``state``: its ``question``, else the last of its ``messages``, if a human's.

    Raises ``InvalidRequest`` for what is empty, too long or of another shape, and what ``parse_chat_command`` raises.
    """
    inputs = _validated(_sent(state) if state.get("question") else _said_in_chat(state))
    if not inputs.question:
        raise InvalidRequest("the question is empty; send `question`, or `messages` that end with a human one")
    return Request(
        request_id=str(uuid.uuid4()),
        question=inputs.question,
        corpora=inputs.corpora,
        access_reason=inputs.access_reason.strip(),
        command=inputs.command,
        started_at=time.time(),
        overrides=inputs.overrides,
        review=review,
        checks={},
    )


def _sent(state: Mapping[str, Any]) -> dict[str, Any]:
    question = state.get("question")
    return {
        "question": question.strip() if isinstance(question, str) else question,
        "corpora": state.get("corpora"),
        "access_reason": state.get("access_reason") or "",
        "command": state.get("command") or "query",
    }


def _said_in_chat(state: Mapping[str, Any]) -> dict[str, Any]:
    """The last human message: a command in the form of ``chat_commands``, or a plain question.

    A chat has no place for a reason: without one the question is an ``ask``, which needs one only by policy.
    """
    sent = _sent(state)
    messages = state.get("messages") or []
    text = messages[-1].text if messages and messages[-1].type == "human" else ""
    command = parse_chat_command(text, access_reason=sent["access_reason"])
    if command is None:
        plain = "query" if sent["access_reason"] else "ask"
        return {**sent, "question": text.strip(), "command": state.get("command") or plain}
    return {
        "question": command.question,
        "corpora": list(command.corpora) if command.corpora else sent["corpora"],
        "access_reason": command.access_reason,
        "command": command.command,
        "overrides": command.overrides,
    }


def _validated(values: dict[str, Any]) -> _Inputs:
    try:
        return _Inputs.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidRequest(f"{first['loc'][0]}: {first['msg']}; see the input schema of the graph") from None
