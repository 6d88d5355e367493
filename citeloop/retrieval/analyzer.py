"""What kind of question is this, and which strategy does it need? By its words and embedding, without a chat model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from citeloop.models.embedder import Embedder
from citeloop.models.query_writers import parts_of
from citeloop.retrieval.question_kinds import QuestionKind, QuestionModels, Vector, load_question_models
from citeloop.retrieval.small_talk import is_small_talk
from citeloop.state.config import Route
from citeloop.state.models import QueryAnalysis, QueryIntent, RetrievalStrategy

COMPLEX_FROM = 0.5
"""Analytical questions from this complexity on want several hops (ADR-031, _select_strategy)."""

DEFAULT_ROUTES: Mapping[Route, RetrievalStrategy] = {
    "factual": RetrievalStrategy.SIMPLE,
    "analytical": RetrievalStrategy.STANDARD,
    "complex": RetrievalStrategy.MULTI_HOP,
    "comparative": RetrievalStrategy.GRAPH_ENHANCED,
    "exploratory": RetrievalStrategy.EXHAUSTIVE,
    "procedural": RetrievalStrategy.STANDARD,
}
"""ADR-031's table (``_select_strategy``); ``complex`` is analytical from complexity 0.5 on."""

_NO_ROUTES: Mapping[Route, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Sign:
    intent: QueryIntent
    pattern: re.Pattern[str]
    told: str


def _sign(intent: QueryIntent, told: str, *patterns: str) -> _Sign:
    return _Sign(intent, re.compile("|".join(patterns), re.IGNORECASE), told)


# The first sign that matches decides; what weighs things is told apart by the model.
_SIGNS = (
    _sign(
        QueryIntent.PROCEDURAL,
        "asks how to do something",
        r"\bhow\s+(do|can|should|would|could|must)\s+(i|you|we|one)\b|\bhow\s+to\b|\bsteps?\s+(to|for)\b",
        r"^\W*how\s+(can|should|could|must)\s+[^?]+?\s+be\s+\w",
        r"^\s*(configure|install|set\s?up|create|enable|disable|add|remove|reset|request|report)\b",
    ),
    _sign(
        QueryIntent.EXPLORATORY,
        "asks for an overview",
        r"\b(summari[sz]e|summary|overview|outline|discuss(ed|ion)?|tell me (more )?about|everything|all the)\b",
        r"\b(what are the (main|key)|give me an?|list (of )?(all|the))\b",
    ),
)
_WEIGHS = re.compile(
    r"\b(compar\w+|versus|vs\.?|differ(s|ence|ences|ent)?\b.*\b(between|from|to)|similarit\w+|in common)\b"
    r"|\b(better|worse|more|less) or \w+ than\b",
    re.IGNORECASE,
)
_BACKGROUND = re.compile(
    r"\b(why|how come|explain|what does .+ mean|meaning of|background|purpose of|reasons? (for|why|behind))\b"
    r"|\bhow (do|does|did|is|are|was|were)\b.+\b(work|affect|influence|cause|relate|lead)\w*\b",
    re.IGNORECASE,
)
_BY_KIND: Mapping[QuestionKind, tuple[QueryIntent, str]] = {
    "single_hop": (QueryIntent.FACTUAL, "asks for a fact"),
    "multi_hop": (QueryIntent.ANALYTICAL, "asks for a fact that several places hold together"),
    "comparative": (QueryIntent.COMPARATIVE, "weighs things against each other"),
    "explanatory": (QueryIntent.ANALYTICAL, "asks for reasons or relations"),
}


class QueryAnalyzer:
    """Classifies intent and estimates complexity (ADR-031, QueryAnalyzer).

    With the ``embedder`` that the search uses, a question is embedded once for both; what is done here beside takes
    under a millisecond. Without one, or with another than the models were trained for, it goes by words alone, and
    small talk is known by its commonest forms only. Blocking, thread-safe.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    def analyze(self, question: str) -> QueryAnalysis:
        """Intent, complexity in [0, 1] and traits of ``question``, and the signs in words."""
        models = load_question_models()
        vector = self._vector(question, models)
        if is_small_talk(question, models, vector):
            return QueryAnalysis(small_talk=True, reason="small talk, or about the assistant itself")
        return _analysis(question, models.kind_probabilities(question, vector))

    def _vector(self, question: str, models: QuestionModels) -> Vector | None:
        if self._embedder is None or self._embedder.model_id != models.embedding_model:
            return None
        vector: Vector = self._embedder.embed([question])[0]
        return vector


def select_strategy(analysis: QueryAnalysis, routes: Mapping[Route, str] = _NO_ROUTES) -> RetrievalStrategy:
    """The strategy for ``auto``: that of ``route_of`` in ``routes``, else in ADR-031's table."""
    row = route_of(analysis, routes)
    return RetrievalStrategy(routes.get(row) or DEFAULT_ROUTES[row])


def route_of(analysis: QueryAnalysis, routes: Mapping[Route, str] = _NO_ROUTES) -> Route:
    """The row of the table that decides: traits before intents, where the table has a row for them."""
    return next(row for row in _rows(analysis) if row in routes or row in DEFAULT_ROUTES)


def _rows(analysis: QueryAnalysis) -> list[Route]:
    """The rows of a table that hold for the question, the first to be looked up first."""
    traits: list[tuple[Route, bool]] = [
        ("multi_part", analysis.multi_part),
        ("needs_background", analysis.needs_background),
        ("complex", analysis.intent is QueryIntent.ANALYTICAL and analysis.estimated_complexity >= COMPLEX_FROM),
    ]
    return [*(row for row, holds in traits if holds), analysis.intent.value]


def _analysis(question: str, probabilities: Mapping[QuestionKind, float]) -> QueryAnalysis:
    intent, told = _intent(question, probabilities)
    complexity = _complexity(probabilities)
    traits = {"multi_part": len(parts_of(question)) > 1, "needs_background": bool(_BACKGROUND.search(question))}
    names = "".join(f", {name.replace('_', ' ')}" for name, holds in traits.items() if holds)
    return QueryAnalysis(
        intent=intent, estimated_complexity=complexity, reason=f"{told}{names}; complexity {complexity:.2f}", **traits
    )


def _intent(question: str, probabilities: Mapping[QuestionKind, float]) -> tuple[QueryIntent, str]:
    kind: QuestionKind = (
        "comparative" if _WEIGHS.search(question) else max(probabilities, key=lambda k: probabilities[k])
    )
    sign = None if kind == "comparative" else next((sign for sign in _SIGNS if sign.pattern.search(question)), None)
    return (sign.intent, sign.told) if sign else _BY_KIND[kind]


def _complexity(probabilities: Mapping[QuestionKind, float]) -> float:
    """Of facts that must be joined against the likeliest of what needs no joining: over 0.5 where it is likelier."""
    several = probabilities["multi_hop"]
    return round(several / (several + max(probabilities["single_hop"], probabilities["explanatory"])), 3)
