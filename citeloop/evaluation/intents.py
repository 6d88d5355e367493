"""Measuring the analyzer on questions with labels of somebody else's.

The analyzer tells an intent and a complexity; a set has labels of its own. A ``LabelScheme`` says which label an
analysis stands for:

    labels of the set            factual      procedural   comparative   exploratory     analytical
    citeloop's own               factual      procedural   comparative   exploratory     analytical
    by complexity                single_hop   explanatory  comparative   explanatory     explanatory
    by type of question          Factoid      How-To       Comparative   Summarization   Explanation

Under "by complexity", a factual or analytical question from complexity 0.5 on (where ADR-031 sends an analytical one
through several hops) stands for multi_hop. Labels that no analysis stands for (Opinion, Keyword, Composite ...) can
only be missed. Sets with none of these labels, such as topics, get the table of labels against intents and no accuracy.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from citeloop.evaluation.bootstrap import Estimate, Ratio, estimate
from citeloop.evaluation.sets import LabelledIntent
from citeloop.state.models import QueryAnalysis, QueryIntent

_SEVERAL_HOPS_FROM = 0.5

_BY_TYPE = {
    QueryIntent.FACTUAL: "Factoid",
    QueryIntent.PROCEDURAL: "How-To",
    QueryIntent.COMPARATIVE: "Comparative",
    QueryIntent.EXPLORATORY: "Summarization",
    QueryIntent.ANALYTICAL: "Explanation",
}
_BY_COMPLEXITY = {
    QueryIntent.FACTUAL: "single_hop",
    QueryIntent.PROCEDURAL: "explanatory",
    QueryIntent.COMPARATIVE: "comparative",
    QueryIntent.EXPLORATORY: "explanatory",
    QueryIntent.ANALYTICAL: "explanatory",
}


class Analyzer(Protocol):
    """What is measured: ``citeloop.retrieval.analyzer.QueryAnalyzer``."""

    def analyze(self, question: str) -> QueryAnalysis:
        """Intent and complexity of the question."""


@dataclass(frozen=True, slots=True)
class LabelScheme:
    """How an analysis is read in the labels of a set."""

    name: str
    read: Callable[[QueryAnalysis], str]
    comparable: bool = True
    """Whether ``read`` gives labels of the set, so that an accuracy means something."""


def scheme_for(rows: Sequence[LabelledIntent]) -> LabelScheme:
    """The scheme whose labels the set bears."""
    labels = {label for row in rows for label in row.accepted}
    if labels <= {intent.value for intent in QueryIntent}:
        return LabelScheme("intent", lambda analysis: analysis.intent.value)
    if labels <= {*_BY_COMPLEXITY.values(), "multi_hop"}:
        return LabelScheme("complexity", _read_complexity)
    if labels & set(_BY_TYPE.values()):
        return LabelScheme("question type", lambda analysis: _BY_TYPE[analysis.intent])
    return LabelScheme("intent, against other labels", lambda analysis: analysis.intent.value, comparable=False)


def predict_labels(rows: Sequence[LabelledIntent], analyzer: Analyzer, scheme: LabelScheme) -> list[str]:
    """The label that the analysis of each question stands for."""
    return [scheme.read(analyzer.analyze(row.question)) for row in rows]


def measure_accuracy(rows: Sequence[LabelledIntent], predicted: Sequence[str]) -> dict[str, Estimate | None]:
    """``accuracy`` (any of a question's labels will do) and ``majority_share``: what the commonest label would get."""
    commonest = Counter(label for row in rows for label in row.accepted).most_common(1)[0][0]
    ones = np.ones(len(rows))
    right = np.array([label in row.accepted for row, label in zip(rows, predicted, strict=True)], dtype=np.float64)
    majority = np.array([commonest in row.accepted for row in rows], dtype=np.float64)
    return estimate({"accuracy": Ratio(right, ones), "majority_share": Ratio(majority, ones)}, len(rows))


def confusion_table(rows: Sequence[LabelledIntent], predicted: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """Counts by label of the set, then by label predicted; a question with several labels counts under each."""
    table: dict[str, Counter[str]] = {}
    for row, label in zip(rows, predicted, strict=True):
        for accepted in row.accepted:
            table.setdefault(accepted, Counter())[label] += 1
    return {label: dict(sorted(counts.items())) for label, counts in sorted(table.items())}


def _read_complexity(analysis: QueryAnalysis) -> str:
    nested = analysis.estimated_complexity >= _SEVERAL_HOPS_FROM
    if nested and analysis.intent in (QueryIntent.FACTUAL, QueryIntent.ANALYTICAL):
        return "multi_hop"
    return _BY_COMPLEXITY[analysis.intent]
