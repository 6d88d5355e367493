"""The kind of a question, by its words."""

import pytest

from citeloop.retrieval.analyzer import QueryAnalyzer
from citeloop.state.models import QueryIntent


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("How should lamps be put out at dawn?", QueryIntent.PROCEDURAL),
        ("How can the oil of an old lamp be changed?", QueryIntent.PROCEDURAL),
        ("How must a wick be trimmed?", QueryIntent.PROCEDURAL),
        ("How do I trim a wick?", QueryIntent.PROCEDURAL),
        ("How are lamps put out?", QueryIntent.ANALYTICAL),
        ("How can one lamp be better or worse than another?", QueryIntent.COMPARATIVE),
        ("Who should be told when a lamp goes out?", QueryIntent.FACTUAL),
        ("How bright can a lamp be?", QueryIntent.FACTUAL),
    ],
)
def test_the_intent_is_told_by_the_words_of_the_question(question: str, intent: QueryIntent) -> None:
    assert QueryAnalyzer().analyze(question).intent is intent
