"""The typed state of the multi-query graphs: plain JSON-able values only, as in ``graph_state``."""

from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from citeloop.state.graph_state import CheckedDraft, Command, Draft, Passage, Request, Verdict
from citeloop.state.reducers import union_by_key

QueryOrigin = Literal["question", "rewrite", "step_back", "sub_question"]


class MultiQueryInput(TypedDict, total=False):
    """What a caller sends to a graph over a retriever of their own; a served one takes ``QueryInput``."""

    question: Annotated[str, Field(description="The question, in plain words.")]
    messages: Annotated[
        list[AnyMessage],
        Field(description="A conversation instead of `question`; its last human message is the question."),
    ]


class DocumentSearchTask(TypedDict):
    """One query to search for."""

    key: str
    """What the branch writes under; keys sort in the order of the queries."""
    query: str
    origin: QueryOrigin
    depth: int
    timeout_s: float


class DocumentSearchBranch(DocumentSearchTask):
    """One branch: the query, and the request that it belongs to."""

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


class SubQuestionTask(TypedDict):
    """A sub-question to retrieve for and to answer."""

    key: str
    sub_question: str
    origin: QueryOrigin


class SubQuestionBranch(SubQuestionTask):
    """One branch: the sub-question, and the request that it belongs to."""

    request: Request
    """Which corpora are asked for; and the asked row of a run that goes on from here."""


class AnsweredSubQuestion(TypedDict):
    """A branch's result."""

    sub_question: str
    origin: QueryOrigin
    verdict: Verdict
    """The sub-answer, checked against the branch's own documents; a refusal where it is "not found"."""
    passages: list[Passage]
    tokens: int
    error: str
    """Why the branch dropped out, or what part of its search did; empty where all went well."""


class MultiQueryState(TypedDict, total=False):
    """The keys that all three graphs have."""

    question: Annotated[str, EphemeralValue]
    messages: Annotated[list[AnyMessage], add_messages]
    corpora: Annotated[list[str], EphemeralValue]
    access_reason: Annotated[str, EphemeralValue]
    command: Annotated[Command, EphemeralValue]

    request: Request
    round: int
    """Always 0: these graphs do not correct (stop rules of the specification)."""
    passages: list[Passage]
    """What stands before the generator, numbered."""
    draft: Draft
    tokens: Annotated[dict[str, int], union_by_key]
    """Tokens of the model calls, by node."""
    trace: Annotated[dict[str, Any], union_by_key]
    """How the answer came about, each node's part under keys of its own: see ``MultiQueryTrace``."""
    sub_answers: list[dict[str, Any]]
    """``SubAnswer`` as JSON, in the order of the sub-questions; of ``sub_questions`` only."""
    best: CheckedDraft | None

    answer: str
    response: dict[str, Any]


class RagFusionState(MultiQueryState, total=False):
    """The state of ``rag_fusion``."""

    searches: list[DocumentSearchTask]
    found: Annotated[dict[str, FoundDocuments], union_by_key]


class StepBackState(MultiQueryState, total=False):
    """The state of ``step_back``."""

    searches: list[DocumentSearchTask]
    found: Annotated[dict[str, FoundDocuments], union_by_key]
    step_back_question: str
    """Empty where there is none."""
    background_ids: list[str]
    """Chunk ids of those ``passages`` that are background."""


class SubQuestionsState(MultiQueryState, total=False):
    """The state of ``sub_questions``."""

    sub_question_tasks: list[SubQuestionTask]
    answered: Annotated[dict[str, AnsweredSubQuestion], union_by_key]
