"""What kind of question is this, and which strategy does it need? By the words of the question, without a model."""

import re
from dataclasses import dataclass

from citeloop.state.models import QueryAnalysis, QueryIntent, RetrievalStrategy
from citeloop.text.words import words

_COMPLEX_FROM = 0.5
"""Analytical questions from this complexity on want several hops (ADR-031, _select_strategy)."""


@dataclass(frozen=True, slots=True)
class _Sign:
    intent: QueryIntent
    pattern: re.Pattern[str]
    told: str


def _sign(intent: QueryIntent, told: str, *patterns: str) -> _Sign:
    return _Sign(intent, re.compile("|".join(patterns), re.IGNORECASE), told)


# The first sign that matches decides, so the narrower kinds of question stand first.
_SIGNS = (
    _sign(
        QueryIntent.COMPARATIVE,
        "weighs things against each other",
        r"\b(compar\w+|versus|vs\.?|differ(s|ence|ences|ent)?\b.*\b(between|from|to)|both|similarit\w+|in common)\b",
        r"\b(same|older|younger|earlier|later|longer|larger|bigger|higher|first|better|more|less)\b[^?]*\bor\b",
    ),
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
    _sign(
        QueryIntent.ANALYTICAL,
        "asks for reasons or relations",
        r"\b(why|how come|explain|explanation|analy[sz]e|cause[sd]?|reasons?|effects?|impacts?|consequences?)\b",
        r"\b(implications?|relationship|affect(s|ed)?|influence[sd]?|how (do|does|did|is|are|was|were))\b",
    ),
)

_JOINS = re.compile(r"\b(and|or|but|while|whose|which|that|who|where|when|after|before|of the|by the)\b", re.IGNORECASE)
_WORDS_OF_A_LONG_QUESTION = 30
_JOINS_OF_A_NESTED_QUESTION = 5


class QueryAnalyzer:
    """Classifies intent and estimates complexity (ADR-031, QueryAnalyzer). Pure and quick: microseconds, no model."""

    def analyze(self, question: str) -> QueryAnalysis:
        """The intent of ``question``, its complexity in [0, 1], and the signs in words."""
        sign = next((sign for sign in _SIGNS if sign.pattern.search(question)), None)
        intent, told = (sign.intent, sign.told) if sign else (QueryIntent.FACTUAL, "asks for a fact")
        complexity = _complexity(question)
        return QueryAnalysis(
            intent=intent,
            estimated_complexity=complexity,
            reason=f"{told}; complexity {complexity:.2f} by length and nesting",
        )


def select_strategy(analysis: QueryAnalysis) -> RetrievalStrategy:
    """ADR-031's table (``_select_strategy``), for the strategy ``auto``."""
    match analysis.intent:
        case QueryIntent.FACTUAL:
            return RetrievalStrategy.SIMPLE
        case QueryIntent.ANALYTICAL if analysis.estimated_complexity >= _COMPLEX_FROM:
            return RetrievalStrategy.MULTI_HOP
        case QueryIntent.COMPARATIVE:
            return RetrievalStrategy.GRAPH_ENHANCED
        case QueryIntent.EXPLORATORY:
            return RetrievalStrategy.EXHAUSTIVE
        case _:
            return RetrievalStrategy.STANDARD


def _complexity(question: str) -> float:
    length = len(words(question)) / _WORDS_OF_A_LONG_QUESTION
    nesting = len(_JOINS.findall(question)) / _JOINS_OF_A_NESTED_QUESTION
    parts = (question.count("?") - 1) / 2
    return round(min(1.0, 0.5 * min(1.0, length) + 0.4 * min(1.0, nesting) + 0.3 * max(0.0, parts)), 3)
