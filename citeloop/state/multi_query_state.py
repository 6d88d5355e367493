"""The typed state of the multi-query graphs: plain JSON-able values only, as in ``graph_state``."""

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from citeloop.state.graph_state import (
    AnsweredSubQuestion,
    CheckedDraft,
    Command,
    Correction,
    Draft,
    Passage,
    Query,
    Request,
)
from citeloop.state.models import QueryOrigin
from citeloop.state.reducers import union_by_key


class MultiQueryInput(TypedDict, total=False):
    """What a caller sends to a graph over a retriever of their own; a served one takes ``QueryInput``."""

    question: Annotated[str, Field(description="The question, in plain words.")]
    messages: Annotated[
        list[AnyMessage],
        Field(description="A conversation instead of `question`; its last human message is the question."),
    ]


class DocumentSearchTask(TypedDict):
    """One branch: a query, and the request that it belongs to."""

    key: str
    """What the branch writes under; keys sort in the order of the queries."""
    query: str
    origin: QueryOrigin
    request: Request
    """Which corpora are asked for; and the asked row of a run that goes on from here."""


class FoundDocuments(TypedDict):
    """What one query found, best first, or why it dropped out."""

    query: str
    origin: QueryOrigin
    passages: list[Passage]
    error: str
    """Empty for a query that was answered in full, be it with nothing. With passages: what part of it dropped out."""


class TracedQuery(TypedDict):
    """A query with what it ranked."""

    query: str
    origin: QueryOrigin
    ranked: list[dict[str, Any]]
    """``chunk_id`` (the retriever's id), ``rank`` and ``title``, best first."""
    error: str


class Contributor(TypedDict):
    """What one query gave to a fused document's score."""

    query: str
    rank: int
    score: float


class FusedDocument(TypedDict):
    """A document after fusion, with the queries that pulled it in."""

    chunk_id: str
    score: float
    contributions: list[Contributor]


class MultiQueryTrace(TypedDict, total=False):
    """The trace of a response."""

    queries: list[TracedQuery]
    dropped_queries: list[dict[str, str]]
    """``query`` and ``reason`` of what the model proposed and was not taken."""
    fallback: str
    """Why the question is searched alone; empty when it is not."""
    fused: list[FusedDocument]
    """Of ``rag_fusion`` only: best first."""
    step_back_question: str
    background: list[str]
    """Of ``step_back`` only: the ids of the documents that were labelled background."""


class MultiQueryState(TypedDict, total=False):
    """The state of all three graphs."""

    question: Annotated[str, EphemeralValue]
    messages: Annotated[list[AnyMessage], add_messages]
    corpora: Annotated[list[str], EphemeralValue]
    access_reason: Annotated[str, EphemeralValue]
    command: Annotated[Command, EphemeralValue]

    request: Request
    round: int
    """Always 0: these graphs do not correct (stop rules of the specification)."""
    correction: Correction
    """Never set, for the same reason."""
    excluded_ids: list[str]
    """Never set, for the same reason."""
    queries: list[Query]
    """What is searched for, the question first; the sub-questions in its place where it was split."""
    found: Annotated[dict[str, FoundDocuments], union_by_key]
    """Of ``rag_fusion`` and ``step_back``: what the branches found, in the order of the queries."""
    answered: Annotated[dict[str, AnsweredSubQuestion], union_by_key]
    """Of ``sub_questions``: what its branches brought."""
    passages: list[Passage]
    """What stands before the generator, numbered."""
    draft: Draft | None
    tokens: Annotated[dict[str, int], union_by_key]
    """Tokens of the model calls, by node."""
    trace: Annotated[dict[str, Any], union_by_key]
    """How the answer came about, each node's part under keys of its own: see ``MultiQueryTrace``."""
    sub_answers: list[dict[str, Any]]
    """``SubAnswer`` as JSON, in the order of the sub-questions; of ``sub_questions`` only."""
    best: CheckedDraft | None

    answer: str
    response: dict[str, Any]
