"""The typed state of the query graph: plain JSON-able values only.

Everything here must survive a checkpoint and be editable by hand in Studio: no models, no vectors, no clients, no
rights. The caller's inputs are ephemeral: the door copies them into ``request``, so that a key which this turn leaves
out never keeps the last turn's value.
"""

from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from citeloop.state.config import ReviewPolicy
from citeloop.state.models import QueryOrigin
from citeloop.state.reducers import union_by_key

Command = Literal["query", "ask"]
SearchMethod = Literal["dense", "lexical", "scan"]
"""By an index of vectors, by words, or by every vector there is."""
Correction = Literal["none", "drop", "neighbours", "widen"]


class QueryInput(TypedDict, total=False):
    """A question to the indexed documents: ``question``, or ``messages`` whose last human one is it."""

    question: Annotated[str, Field(description="The question, in plain words.")]
    messages: Annotated[
        list[AnyMessage],
        Field(description="A conversation instead of `question`; its last human message is the question."),
    ]
    corpora: Annotated[
        list[str], Field(description="Names of the collections to search; absent: all that are open to you.")
    ]
    access_reason: Annotated[
        str, Field(description="Why you ask, for the audit log; required unless `command` is `ask`.")
    ]
    command: Annotated[Command, Field(description="`query` needs an access_reason, `ask` only where policy says so.")]


class QueryOutput(TypedDict, total=False):
    """What a caller gets."""

    answer: Annotated[str, Field(description="The answer, each claim with its [n], or a refusal.")]
    response: Annotated[
        dict[str, Any],
        Field(description="The RAGResponse as JSON: status, citations with their sources, confidence, trace."),
    ]
    messages: Annotated[list[AnyMessage], Field(description="The conversation, its last message the answer.")]


class Request(TypedDict):
    """The question as it was let in, for this turn only."""

    request_id: str
    question: str
    corpora: list[str] | None
    """Names asked for; ``None``: all that are open to the caller. What was asked for, never what is allowed."""
    access_reason: str
    command: Command
    started_at: float
    """Seconds since the epoch."""
    overrides: dict[str, Any]
    """Settings that the question itself asks for, by the names of ``RAGConfig``."""
    review: ReviewPolicy
    checks: dict[str, Any]
    """What an answer has to pass, as the asker had it set, for an edit in review; by the names of ``RAGConfig``."""
    asked: NotRequired[str]
    """The asker's own words, where ``question`` is the standing question made of them and the turns before."""


class Analysis(TypedDict):
    """The analyzer's view and the strategy that follows from it."""

    intent: str
    estimated_complexity: float
    strategy: str
    """The strategy that runs."""
    reason: str
    """Why, in words, for the trace."""
    multi_part: NotRequired[bool]
    needs_background: NotRequired[bool]
    small_talk: NotRequired[bool]
    """The traits, as in ``QueryAnalysis``."""


class Query(TypedDict):
    """What is searched for."""

    text: str
    origin: QueryOrigin
    hop: NotRequired[int]
    """The search that it belongs to, where that is not the first of its round (0)."""
    about: NotRequired[str]
    """The name that a follow-up asks about; empty where it asks about none in particular."""
    strength: NotRequired[float]
    """How far the passages that led to a follow-up can be trusted, in [0, 1]."""


class Coverage(TypedDict):
    """How much of the question the passages of the hops so far cover."""

    decision: Literal["search", "stop"]
    open: list[str]
    """Words of the question that stand in no good passage."""
    best_ids: list[str]
    """Chunks that stood best, to see whether the next hop brings others."""


class Grading(TypedDict):
    """How good the passages are, before an answer is generated from them."""

    decision: Literal["generate", "rewrite", "refuse"]
    best: float
    """Probability that the best passage answers the question."""
    good: int
    """How many reach ``similarity_threshold``."""


class SearchTask(TypedDict):
    """One branch: one query in one corpus."""

    round: int
    query: str
    corpus: str
    depth: int
    term_weights: dict[str, float]
    """Stem to inverse document frequency over all corpora searched; empty: no lexical search."""
    timeout_s: float
    command: str
    access_reason: str
    """For the asked row of a run that goes on from here."""


class ScanTask(SearchTask):
    """One branch: one query in one shard of a corpus. Rows, both ends included; never what is allowed."""

    shard: int
    """Its number in the corpus, from 0."""
    first_row: int
    last_row: int
    rows: int
    total_rows: int
    """Of all shards of the round."""


class RankedList(TypedDict):
    """What one search of one corpus found, best first."""

    query: str
    corpus: str
    method: SearchMethod
    hits: list[tuple[str, float]]
    """``(chunk id, score)``."""


class SearchFailure(TypedDict):
    """A branch that dropped out."""

    query: str
    corpus: str
    error: str


class Candidate(TypedDict):
    """A chunk on its way to the generator."""

    chunk_id: str
    corpus: str
    document_uri: str
    score: float
    origin: NotRequired[QueryOrigin]
    """What it was found for, where not for the question; rewrites of the question count as the question."""
    query: NotRequired[str]
    """The follow-up that found it."""


class Passage(TypedDict):
    """A chunk that stands before the generator under a number of its own."""

    number: int
    chunk_id: str
    corpus: str
    document_id: str
    title: str
    uri: str
    heading_path: list[str]
    text: str
    start: int
    end: int
    score: float
    label: NotRequired[str]
    """How citations name it, where not by its number: ``D7``."""
    origin: NotRequired[QueryOrigin]
    """As in ``Candidate``."""
    members: NotRequired[list[str]]
    """Ids of the chunks that stand in it, where it was grown around the one found (``context_unit``)."""


class Draft(TypedDict):
    """An answer before validation, as the model wrote it."""

    text: str
    tokens: int
    watched: NotRequired[bool]
    """Whether the verdicts on its claims were told while it was written."""


class Verdict(TypedDict):
    """What validation found of a draft."""

    answer: str
    """The draft with normalised citations."""
    refused: bool
    citations: list[dict[str, Any]]
    """``Citation`` as JSON, invalid ones included: see their confidence."""
    invalid_chunk_ids: list[str]
    """Chunks cited for claims that they do not support."""
    invalid_share: float
    confidence: float
    passed: bool
    note: str
    """Why it did not pass, in words."""
    claims: NotRequired[list[dict[str, Any]]]
    """``AnswerClaim`` as JSON: every sentence of ``answer`` in order; none of a refusal."""
    removed: NotRequired[list[dict[str, Any]]]
    """``AnswerClaim`` as JSON: what ``claim_policy`` strict took out of the draft, and why; spans point into that."""
    unchecked: NotRequired[bool]
    """Whether ``claim_policy`` was off: nothing is known of its claims and citations."""
    conflicts: NotRequired[list[dict[str, Any]]]
    """``Conflict`` as JSON: what other passages give another value for; ``answer`` tells them, too."""
    support_methods: NotRequired[dict[str, int]]
    """Claims of the draft as it was written, by how their support was found, and why no judge decided that should."""
    small_talk: NotRequired[bool]
    """Whether it is the fixed reply to small talk: no draft, and no refusal of an answer either."""


class CheckedDraft(TypedDict):
    """A validated draft with the passages its numbers point into."""

    round: int
    verdict: Verdict
    passages: list[Passage]
    sub_answers: NotRequired[list[dict[str, Any]]]
    """``SubAnswer`` as JSON: those that the draft was combined from."""


class SubQuestionTask(TypedDict):
    """One branch of the fan-out: a sub-question in a round. No text of documents or drafts: such tasks are kept."""

    key: str
    """Keys sort in the order of the sub-questions."""
    sub_question: str
    origin: QueryOrigin
    round: int
    correction: Correction
    excluded_ids: list[str]
    request: Request
    """Which corpora are asked for; and the asked row of a run that goes on from here."""


class AnsweredBranch(TypedDict):
    """The result of a branch that answers from passages of its own."""

    key: str
    round: int
    verdict: Verdict
    """Its answer, checked against its own passages; a refusal where it found none."""
    passages: list[Passage]
    tokens: int
    error: str
    """Why the branch dropped out, or what part of its search did; empty where all went well."""


class AnsweredSubQuestion(AnsweredBranch):
    """A branch's sub-answer; a refusal where it is "not found"."""

    sub_question: str
    origin: QueryOrigin
    queries: list[dict[str, Any]]
    """For the trace: what was searched, with the ranked ids."""


class GroupedCandidate(Candidate):
    """A passage of a group."""

    members: list[str]
    """Ids of the chunks that stand in it, its own among them."""


class MapTask(TypedDict):
    """One branch of the map: a group of passages, by their ids. No text of documents or drafts: such tasks are kept."""

    key: str
    """Keys sort in the order of the groups, of all rounds."""
    round: int
    groups: int
    """How many branches this round has."""
    candidates: list[GroupedCandidate]
    room: int
    """Tokens that the partial answer may have, so that all of them fit one prompt."""
    request: Request
    """Which question is asked; and the asked row of a run that goes on from here."""


class MapPlan(TypedDict):
    """How the passages of a full scan are read: by one prompt, group by group, or (a correction) not again."""

    decision: Literal["single", "map", "stop"]
    reason: str
    """In words, for the trace."""
    tasks: list[MapTask]


class MappedGroup(AnsweredBranch):
    """A branch's partial answer; ``passages`` are those that it cites."""

    candidates: list[GroupedCandidate]
    """What it read."""
    room: int
    """As in ``MapTask``."""


class Review(TypedDict):
    """How far a person's decision has come."""

    decided: bool
    note: str
    """What was wrong with the last reply; empty where nothing was."""


class QueryState(TypedDict, total=False):
    """The state of the query graph."""

    question: Annotated[str, EphemeralValue]
    corpora: Annotated[list[str], EphemeralValue]
    access_reason: Annotated[str, EphemeralValue]
    command: Annotated[Command, EphemeralValue]
    messages: Annotated[list[AnyMessage], add_messages]

    request: Request
    analysis: Analysis
    queries: list[Query]
    """What is searched for, the question first; the sub-questions in its place where it was split."""
    round: int
    correction: Correction
    """What this round does about the last draft."""
    corrections_tried: list[str]
    search_tasks: list[SearchTask]
    ranked_lists: Annotated[dict[str, RankedList], union_by_key]
    search_failures: Annotated[dict[str, SearchFailure], union_by_key]
    hop: int
    """How many searches of this round went before, each upon what the last one found."""
    coverage: Coverage | None
    grading: Grading | None
    candidates: list[Candidate]
    excluded_ids: list[str]
    """Chunks dropped by a correction: they never come back in this turn."""
    passages: list[Passage]
    draft: Draft | None
    verdict: Verdict | None
    best: CheckedDraft | None
    tokens: Annotated[dict[str, int], union_by_key]
    """Tokens of the model calls, by node and round."""
    answered: Annotated[dict[str, AnsweredSubQuestion], union_by_key]
    """What the branches of ``sub_questions`` brought, by round and sub-question."""
    sub_answers: list[dict[str, Any]]
    """``SubAnswer`` as JSON, in the order of the sub-questions: the best of each."""
    map_plan: MapPlan | None
    mapped: Annotated[dict[str, MappedGroup], union_by_key]
    """What the branches of the map brought, by round and group."""
    partial_answers: list[str]
    """What this round's draft is combined from, cited by the numbers of ``passages``; empty: from the passages."""
    model_failure: str
    """Why a correction round has no draft; empty when it has one."""
    trace: Annotated[dict[str, Any], union_by_key]
    """How the queries came about, each node's part under keys of its own: see ``MultiQueryTrace``."""
    query_trace: list[dict[str, Any]]
    ranked_trace: list[Candidate]
    """The first round's candidates after reranking, best first."""
    ranked_by: str
    """Who put this round's candidates in order."""
    round_trace: list[dict[str, Any]]

    checked_response: dict[str, Any]
    """The ``RAGResponse`` as JSON, before a person's decision, where one is asked for, and its ended row."""
    review: Review
    answer: str
    response: dict[str, Any]
