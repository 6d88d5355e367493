"""The value models of citeloop: what goes in, what comes out, under the names of ADR-031."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SUPPORTED_FROM = 0.7
"""Support from which a claim counts as supported: a calibrated probability, never a raw cosine."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class QueryIntent(StrEnum):
    """What kind of answer a question wants (ADR-031, QueryIntent)."""

    FACTUAL = "factual"
    ANALYTICAL = "analytical"
    COMPARATIVE = "comparative"
    EXPLORATORY = "exploratory"
    PROCEDURAL = "procedural"


class RetrievalStrategy(StrEnum):
    """How evidence is looked for (ADR-031, RetrievalStrategy; the last three from the multi-query specification)."""

    SIMPLE = "simple"
    STANDARD = "standard"
    MULTI_HOP = "multi_hop"
    GRAPH_ENHANCED = "graph"
    EXHAUSTIVE = "exhaustive"
    RAG_FUSION = "rag_fusion"
    SUB_QUESTIONS = "sub_questions"
    STEP_BACK = "step_back"


QueryOrigin = Literal["question", "rewrite", "step_back", "sub_question", "follow_up"]
"""Where a query comes from: it is the question itself, was made of the question, or (``follow_up``) of the question
and of what an earlier search found."""

AnswerStatus = Literal["answered", "no_evidence", "low_confidence", "rejected", "small_talk", "unchecked"]
"""``answered``: validated. ``low_confidence``: the best draft, as none passed. ``no_evidence``: a refusal.
``rejected``: withheld by the person who reviewed it. ``small_talk``: a reply of fixed words to a greeting or a question
about the assistant itself: nothing was searched for, and nothing is claimed of any document. ``unchecked``: an answer
under ``claim_policy`` off, of which nothing was validated."""


class UserContext(_Value):
    """Who asks. On a server this is built from the authenticated user only, never from the request's body."""

    user_id: str = Field(default="local", min_length=1, description="Stable id of the caller.")
    groups: tuple[str, ...] = Field(
        default=(), description="Groups of the caller, as the identity provider names them."
    )


class QueryAnalysis(_Value):
    """What the analyzer makes of a question (ADR-031, QueryAnalysis)."""

    intent: QueryIntent = QueryIntent.FACTUAL
    estimated_complexity: float = Field(default=0.0, ge=0, le=1, description="0 one fact, 1 many facts to join.")
    multi_part: bool = Field(default=False, description="Several questions in one, which can be answered apart.")
    needs_background: bool = Field(default=False, description="Asks for reasons or meaning, so for general background.")
    small_talk: bool = Field(
        default=False, description="A greeting, or about the assistant: asks nothing of documents."
    )
    reason: str = Field(default="", description="The signs the analysis rests on, in words.")


class SourceReference(_Value):
    """A passage that stood before the generator, told so that a reader can open it at its place."""

    number: int = Field(description="The [n] of the answer.")
    chunk_id: str
    corpus: str
    document_id: str
    title: str
    uri: str = Field(description="Where the document came from: a path or an address.")
    heading_path: tuple[str, ...] = ()
    start: int = Field(description="First character of the passage in the document's text.")
    end: int = Field(description="One past the last character.")
    score: float = Field(description="Retrieval score, comparable within one response only.")
    label: str = Field(default="", description="How the answer cites it where not by its number: the D7 of [D7].")
    origin: QueryOrigin = Field(
        default="question", description="What it was retrieved for; step_back: it stood there as background."
    )


class Citation(_Value):
    """One claim tied to one source (ADR-031, Citation)."""

    citation_id: int = Field(description="The [n] of the answer.")
    claim_text: str
    source_chunk_id: str
    source_text: str = Field(description="The exact text of the source that supports the claim best.")
    confidence: float = Field(ge=0, le=1, description="Calibrated probability that the source supports the claim.")
    span_in_response: tuple[int, int] = Field(description="The claim's characters in the answer, half open.")
    document_title: str = ""
    uri: str = ""
    heading_path: tuple[str, ...] = ()
    source_start: int = Field(default=0, description="First character of source_text in the document's text.")
    source_end: int = 0
    label: str = Field(default="", description="How the answer cites the source where not by its number.")


class ClaimVerification(_Value):
    """Whether a citation's source supports its claim (ADR-031, ClaimVerification)."""

    citation: Citation
    supported: bool
    similarity_score: float = Field(ge=0, le=1, description="The calibrated support; supported means >= 0.7.")


ClaimVerdict = Literal["supported", "partly", "unsupported", "contradicted", "not_a_claim"]
"""``supported``: the sources it cites say all of it. ``partly``: they say some of it, or a part of it is cited and
another is not. ``contradicted``: they say otherwise. ``unsupported``: they do not say it, or it cites none.
``not_a_claim``: it connects, introduces or asks, and asserts nothing that could be checked."""


class AnswerClaim(_Value):
    """One sentence or clause of an answer with its verdict: what a reader may rely on, and why."""

    text: str = Field(description="What it says, without its citation markers.")
    span_in_response: tuple[int, int] = Field(description="Its characters in the answer, half open.")
    verdict: ClaimVerdict
    support: float = Field(
        ge=0, le=1, description="Calibrated probability that all its sources together say it; 0 of what is no claim."
    )
    citation_ids: tuple[int, ...] = Field(default=(), description="The [n] it cites.")
    reason: str = Field(default="", description="Why the verdict, in words a reader understands.")
    missing: tuple[str, ...] = Field(
        default=(), description="Numbers, dates and names of the claim that its sources do not hold."
    )


class Conflict(_Value):
    """Cited sources that give different values for the same thing."""

    about: str = Field(description="What they disagree on, in words.")
    values: tuple[str, ...] = Field(description="The values, as the sources write them.")
    citation_ids: tuple[int, ...] = Field(description="The [n] of the source of each value, in the same order.")


class RetrievalContext(_Value):
    """What retrieval found and how (ADR-031, RetrievalContext)."""

    chunks: tuple[SourceReference, ...] = ()
    strategy_used: RetrievalStrategy = RetrievalStrategy.STANDARD
    total_retrieved: int = 0
    hops_executed: int = 1
    entities_traversed: tuple[str, ...] = ()


class SubAnswer(_Value):
    """The answer to one part of a question, so that a reader can check each (multi-query specification)."""

    sub_question: str
    answer: str = Field(description='Its citations point into the sources of the response; "not found" where none did.')
    found: bool
    passed: bool = Field(default=False, description="Whether it passed the checks that an answer has to pass.")
    citations: tuple[Citation, ...] = ()
    confidence: float = Field(default=0.0, ge=0, le=1)
    source_chunk_ids: tuple[str, ...] = Field(default=(), description="The documents that stood before this answer.")
    error: str = Field(default="", description="Why the branch, or a part of its search, dropped out; else empty.")


class RAGResponse(_Value):
    """An answer with its citations, its confidence and how it came about (ADR-031, RAGResponse)."""

    question: str = Field(default="", description="In the asker's words.")
    answer: str
    status: AnswerStatus
    citations: tuple[Citation, ...] = ()
    claims: tuple[AnswerClaim, ...] = Field(
        default=(), description="Every sentence of the answer in order, with its verdict."
    )
    conflicts: tuple[Conflict, ...] = Field(default=(), description="Values on which cited sources disagree.")
    confidence: float = Field(
        ge=0, le=1, description="Probability that all claims are supported and the question is answered."
    )
    sources: tuple[SourceReference, ...] = ()
    strategy_used: RetrievalStrategy = RetrievalStrategy.STANDARD
    hops_executed: int = 1
    correction_rounds: int = 0
    tokens_used: int = 0
    context_used: RetrievalContext = RetrievalContext()
    sub_answers: tuple[SubAnswer, ...] = Field(default=(), description="Of the strategy sub_questions only.")
    request_id: str = Field(default="", description="The id under which the audit keeps this question.")
    trace: dict[str, Any] = Field(
        default_factory=dict, description="Analysis, queries with ranked ids, rounds, failures."
    )
    timings_ms: dict[str, float] = Field(default_factory=dict, description="Milliseconds spent in each node.")

    def to_markdown(self) -> str:
        """The answer, with the first 200 characters of each cited source as a footnote (ADR-031).

        What a reader has to know first stands above the sources: that checks failed, and which claims should not be
        relied on and why. Where sources disagree, the answer says so.
        """
        from citeloop.rendering.markdown import answer_markdown

        return answer_markdown(self)

    def to_html(self, passages: Mapping[str, str] | None = None) -> str:
        """The answer as one page that needs nothing else: pointing at a claim, or focusing it, shows its source.

        ``passages`` are the texts of the sources by chunk id, as ``RAGQueryEngine.passages_of`` reads them: with them a
        cited sentence is shown within its passage.
        """
        from citeloop.rendering.page import answer_page

        return answer_page(self, passages or {})

    def verify_claims(self) -> list[ClaimVerification]:
        """Whether each citation's source supports its claim, by the calibrated support (ADR-031)."""
        return [
            ClaimVerification(citation=c, supported=c.confidence >= SUPPORTED_FROM, similarity_score=c.confidence)
            for c in self.citations
        ]
