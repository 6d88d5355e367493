"""The support desk's own state, and how it maps to the query graph's input and back."""

import re
from typing import Any

from typing_extensions import TypedDict

from citeloop import RAGResponse
from citeloop.state.graph_state import QueryInput


class Ticket(TypedDict, total=False):
    """What the desk keeps of a ticket; the query graph knows none of these keys."""

    ticket: str
    """As it came in."""
    reply: str
    sources: list[str]
    """Title and place of each cited page."""
    needs_a_person: bool
    """The handbook did not answer, or not surely enough."""


def to_query(state: Ticket) -> QueryInput:
    """What to ask about a ticket: its question, and why the desk may ask, which the audit log keeps."""
    question = re.search(r"[^.!?\n]*\?", state["ticket"])
    return QueryInput(
        question=question.group().strip() if question else state["ticket"],
        access_reason="support ticket",
    )


def to_reply(response: dict[str, Any]) -> Ticket:
    """What the desk keeps of ``response``, a ``RAGResponse`` as JSON."""
    answer = RAGResponse.model_validate(response)
    return Ticket(
        reply=answer.answer,
        sources=sorted({f"{citation.document_title} ({citation.uri})" for citation in answer.citations}),
        needs_a_person=answer.status != "answered",
    )
