"""Settings of one run: a form in Studio, ``context=`` in ``invoke``."""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field

from citeloop.state.models import QueryOrigin

Settings = TypeVar("Settings", bound=BaseModel)

RoutedStrategy = Literal[
    "simple", "standard", "multi_hop", "graph", "exhaustive", "rag_fusion", "sub_questions", "step_back"
]
StrategyChoice = Literal["auto", RoutedStrategy]

Route = Literal[
    "factual", "analytical", "complex", "comparative", "exploratory", "procedural", "multi_part", "needs_background"
]
"""Rows of the table by which ``auto`` chooses: intents, analytical ones of high complexity apart, and two traits."""

AnalyzerChoice = Literal["offline", "model"]

ContextUnit = Literal["chunk", "section", "document"]

ReviewPolicy = Literal["off", "low_confidence", "always"]

ClaimPolicy = Literal["off", "annotate", "strict"]
"""What is done about the claims of an answer, from the weakest to the strictest: nothing is checked, each gets a
verdict, or what is not supported is taken out."""

CorrectiveRetrieval = Literal["off", "retry", "refuse"]

WIDER = 2
"""How many times deeper a widened search goes, and how many times more passages it may bring."""

FOLLOW_UP_DEPTH = 20
"""How many hits of a follow-up query are looked at: it asks for a certain thing, so the best few hold it or none."""


class RAGConfig(BaseModel):
    """Configuration of the engine for one run (ADR-031, RAGConfig, with its defaults)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: StrategyChoice = Field(default="auto", description="Retrieval strategy; auto lets the analyzer choose.")
    routes: dict[Route, RoutedStrategy] = Field(
        default_factory=dict,
        description="Strategies that auto chooses by the analysis, in place of those of the default table; multi_part "
        "and needs_background have none there, and go before the intents.",
    )
    analyzer: AnalyzerChoice = Field(
        default="offline",
        description="Who analyzes the question: models of its words and its embedding, or the chat model, where one is "
        "configured and replies; offline otherwise.",
    )
    reply_to_small_talk: bool = Field(
        default=True, description="Reply to greetings, thanks and questions about the assistant without a search."
    )
    top_k: int | None = Field(
        default=None,
        ge=1,
        le=200,
        description="Passages for the generator, of each query; empty: 3 for simple, background_top_k and "
        "sub_question_top_k for such queries, default_top_k otherwise.",
    )
    default_top_k: int = Field(default=10, ge=1, le=50, description="Passages kept after reranking.")
    max_top_k: int = Field(
        default=50, ge=1, le=200, description="Passages fetched before reranking, and the cap on top_k."
    )
    similarity_threshold: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="Probability from which a claim counts as supported, and a passage as good.",
    )
    fusion_k: int = Field(
        default=60, ge=1, le=1000, description="Constant k of reciprocal rank fusion, 1 / (k + rank)."
    )
    rewrites: int = Field(
        default=3, ge=1, le=16, description="Rewordings of the question that rag_fusion searches beside it."
    )
    background_top_k: int = Field(
        default=4, ge=1, le=50, description="Background passages of step_back, beside those of the question itself."
    )
    max_sub_questions: int = Field(
        default=4, ge=2, le=16, description="Sub-questions that sub_questions keeps; further ones are logged."
    )
    sub_question_top_k: int = Field(default=4, ge=1, le=50, description="Passages for each sub-question's answer.")
    graph_hops: int = Field(default=2, ge=1, le=4, description="Hops of graph over entities, from chunk to chunk.")
    graph_starts: int = Field(default=4, ge=1, le=20, description="Passages that the walk of graph starts from.")
    graph_hub: int = Field(
        default=200,
        ge=2,
        le=10_000,
        description="Passages from which on an entity is a hub: graph does not go on to what merely mentions it.",
    )
    graph_max_chunks: int = Field(default=20, ge=1, le=200, description="Passages that the walk of graph may bring.")
    graph_vector_weight: float = Field(
        default=0.6,
        gt=0,
        lt=1,
        description="Weight of what search found and the question names; what the walk of graph reached has the rest.",
    )
    max_hops: int = Field(default=3, ge=1, le=10, description="Searches of multi_hop, one upon the other, at the most.")
    follow_ups: int = Field(
        default=3, ge=1, le=16, description="Follow-up queries that each hop of multi_hop searches."
    )
    corrective_retrieval: CorrectiveRetrieval = Field(
        default="retry",
        description="When no passage is graded good: generate all the same (off), rewrite the question and search once "
        "more (retry), or that, and refuse when there is still none (refuse).",
    )
    exhaustive_top_k: int = Field(
        default=50, ge=1, le=200, description="Passages of exhaustive, as far as max_context_tokens holds them."
    )
    map_calls: int = Field(
        default=8,
        ge=0,
        le=64,
        description="Calls by which a chat model reads the passages of exhaustive in groups, where one prompt does not "
        "hold them, before a last call combines what it noted; 0 or 1: one prompt, with what it holds.",
    )
    map_passages: int = Field(
        default=120,
        ge=1,
        le=2000,
        description="Passages of exhaustive that are read in groups, as far as scan_candidates and map_calls go.",
    )
    scan_candidates: int = Field(
        default=200, ge=1, le=2000, description="Best chunks of a full scan, of which passages are chosen for coverage."
    )
    scan_shard_rows: int = Field(
        default=8192, ge=1, le=100_000, description="Chunks that a branch of a full scan reads at a time."
    )
    scan_timeout_s: float = Field(
        default=120.0, gt=0, le=3600, description="Seconds allowed to a full scan; shards not read by then drop out."
    )
    coverage_lambda: float = Field(
        default=0.3,
        ge=0,
        le=1,
        description="Weight of relevance against novelty where exhaustive chooses passages; 1: relevance alone.",
    )
    context_unit: ContextUnit = Field(
        default="chunk",
        description="What the generator gets of a chunk that was found: itself, or its section or document, as far as "
        "max_context_tokens allows.",
    )
    model_timeout_s: float = Field(
        default=60.0,
        gt=0,
        le=3600,
        description="Seconds allowed to one model call that writes queries, answers a sub-question, reads a group of "
        "passages or combines such answers.",
    )
    enable_reranking: bool = Field(default=True, description="Rerank the fused candidates.")
    reranker_model: str = Field(
        default="cross-encoder/ms-marco-MiniLM-L-12-v2",
        description="Cross-encoder, where it can be loaded; taken when the engine is opened.",
    )
    search_timeout_s: float = Field(
        default=10.0, gt=0, le=120, description="Seconds allowed to one search of one corpus."
    )
    require_citations: bool = Field(default=True, description="A claim without a valid citation counts as unsupported.")
    min_citations_per_claim: int = Field(default=1, ge=0, le=5, description="Valid citations that each claim needs.")
    claim_policy: ClaimPolicy = Field(
        default="annotate",
        description="Each claim gets a verdict (annotate); those that are not supported are taken out, and the answer "
        "refused where nothing is left (strict); nothing is checked (off), which the status says and the audit keeps. "
        "A run cannot ask for a weaker policy than the engine's.",
    )
    max_context_tokens: int = Field(
        default=8000,
        ge=1000,
        le=200_000,
        description="Tokens of the whole prompt (instructions, question, labels, passages) and the answer.",
    )
    max_answer_tokens: int = Field(default=2000, ge=16, le=32_000, description="Tokens the generator may write.")
    enable_self_correction: bool = Field(default=True, description="Correct drafts that fail validation.")
    confidence_threshold: float = Field(
        default=0.8, ge=0, le=1, description="Confidence under which context is expanded."
    )
    max_invalid_citations: float = Field(
        default=0.3, ge=0, le=1, description="Share of invalid citations over which their sources are dropped."
    )
    max_correction_rounds: int = Field(default=2, ge=0, le=5, description="Correction rounds at the most.")
    latency_budget_ms: int = Field(
        default=30_000, ge=50, le=600_000, description="Milliseconds after which no further correction round starts."
    )
    review: ReviewPolicy = Field(
        default="off",
        description="Answers that wait for a person before they leave: none, those of low confidence, or all; "
        "needs a thread. A run cannot ask for less review than the engine does.",
    )
    audit_all_queries: bool = Field(
        default=True, description="Keep two audit rows a question; a run cannot switch off what the engine keeps."
    )

    def passages_wanted(self, strategy: str, origin: QueryOrigin = "question", *, widened: bool = False) -> int:
        """How many passages found for a query reach the generator: the caller's top_k rules, never over max_top_k; more
        when widened."""
        usual = {"simple": 3, "exhaustive": self.exhaustive_top_k}.get(strategy, self.default_top_k)
        by_origin = {"step_back": self.background_top_k, "sub_question": self.sub_question_top_k}
        wanted = self.top_k or by_origin.get(origin, usual)
        return min(wanted * WIDER if widened else wanted, self.max_top_k)

    def passages_mapped(self, *, widened: bool = False) -> int:
        """How many passages of ``exhaustive`` may be read in groups: the caller's top_k rules; more when widened."""
        if self.top_k:
            return self.passages_wanted("exhaustive", widened=widened)
        return self.map_passages * WIDER if widened else self.map_passages

    def passages_ranked(self, strategy: str, *, widened: bool = False) -> int:
        """How many of a ranking count that is not reranked (``simple``) or is one of several to be fused: at least
        ``default_top_k``."""
        return max(self.default_top_k, self.passages_wanted(strategy, widened=widened))

    def search_depth(self, strategy: str, *, widened: bool = False, origin: QueryOrigin = "question") -> int:
        """How many hits each search of a corpus fetches: few for ``simple``, many to choose from, more when widened.

        A follow-up looks for a certain thing: ``FOLLOW_UP_DEPTH`` hits.
        """
        if origin == "follow_up":
            return min(FOLLOW_UP_DEPTH, self.max_top_k)
        usual = self.scan_candidates if strategy == "exhaustive" else self.max_top_k
        if widened:
            return usual * WIDER
        return self.passages_ranked(strategy) if strategy == "simple" else usual


def run_config(context: RAGConfig | None, request: Mapping[str, Any] | None = None) -> RAGConfig:
    """The settings of this run: an omitted context arrives as ``None`` when embedded.

    A ``request`` may override some of them for its own question, as a chat command does.
    """
    return overridden(context if context is not None else RAGConfig(), request)


def overridden(settings: Settings, request: Mapping[str, Any] | None) -> Settings:
    """``settings``, those of the request's own in place of some."""
    overrides = (request or {}).get("overrides")
    return settings.model_validate({**settings.model_dump(), **overrides}) if overrides else settings


def stricter_review(one: ReviewPolicy, other: ReviewPolicy) -> ReviewPolicy:
    """Of two policies the one that holds more answers back."""
    order = get_args(ReviewPolicy)
    return max(one, other, key=order.index)


def held_to(settings: RAGConfig, least: RAGConfig) -> RAGConfig:
    """``settings`` with the claim policy of ``least`` where that lets fewer claims pass; where it is strict, also with
    what a claim needs to be supported: else a threshold of 0 would leave nothing of it."""
    order = get_args(ClaimPolicy)
    held: dict[str, Any] = {"claim_policy": max(settings.claim_policy, least.claim_policy, key=order.index)}
    if least.claim_policy == "strict":
        held |= {
            "similarity_threshold": max(settings.similarity_threshold, least.similarity_threshold),
            "require_citations": settings.require_citations or least.require_citations,
            "min_citations_per_claim": max(settings.min_citations_per_claim, least.min_citations_per_claim),
        }
    return settings.model_copy(update=held)
