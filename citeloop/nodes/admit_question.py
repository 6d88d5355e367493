"""The first step of a multi-query graph: takes the question, and puts back what an earlier turn left."""

import time
import uuid
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.errors import InvalidRequest
from citeloop.state.graph_state import Request
from citeloop.state.multi_query_state import MultiQueryState

MAX_QUESTION_CHARACTERS = 20_000


class AdmittedQuestion(TypedDict):
    """A new turn."""

    request: Request
    messages: list[AnyMessage]
    round: int
    passages: list[Any]
    tokens: Overwrite
    trace: Overwrite
    sub_answers: list[Any]
    best: None
    answer: str
    response: dict[str, Any]


async def admit_question(state: MultiQueryState) -> AdmittedQuestion:
    """Let the question in. Raises ``InvalidRequest`` for one that is empty, no text or too long."""
    question = _question(state)
    return AdmittedQuestion(
        request=Request(
            request_id=str(uuid.uuid4()),
            question=question,
            corpora=None,
            access_reason="",
            command="ask",
            started_at=time.time(),
            overrides={},
            review="off",
        ),
        messages=[HumanMessage(question)] if state.get("question") else [],
        round=0,
        passages=[],
        tokens=Overwrite({}),
        trace=Overwrite({}),
        sub_answers=[],
        best=None,
        answer="",
        response={},
    )


def _question(state: MultiQueryState) -> str:
    messages = state.get("messages", [])
    last_human = messages[-1].text if messages and messages[-1].type == "human" else ""
    question = state.get("question") or last_human
    if not isinstance(question, str) or not question.strip():
        raise InvalidRequest("the question is empty; send `question`, or `messages` that end with a human one")
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise InvalidRequest(f"the question has {len(question)} characters, {MAX_QUESTION_CHARACTERS} are allowed")
    return question.strip()
