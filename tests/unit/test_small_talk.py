"""What asks nothing of the documents, and what looks like it and does."""

import json
from pathlib import Path

import pytest

from citeloop.models.embedder import Embedder
from citeloop.models.load import load_embedder
from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.retrieval.analyzer import QueryAnalyzer
from citeloop.retrieval.small_talk import is_courtesy
from citeloop.settings import Settings

TALK = [
    "Hi",
    "hello there!",
    "Thanks!",
    "Thank you so much.",
    "Great, thanks",
    "Bye",
    "Who are you?",
    "What can you do?",
]
LOOSE = ["tell me a joke please", "how are you feeling today", "it was nice talking to you", "which company made you"]
QUESTIONS = [
    "Who are you allowed to call at night?",
    "What can you do with a lamp that smokes?",
    "How are you paid for a night shift?",
    "Thanks, and in 2019?",
    "Hello World programs: which came first?",
    "What is your policy on parental leave?",
    "Who made the lamp?",
    "Help desk hours",
    "Do you have forms for a sabbatical?",
    "How old are you when you may retire?",
    "Good morning routine of the keeper",
    "What does 'thank you' mean on form 7?",
    "Which people can you name as a guarantor?",
    "Are you a member of the union after a year?",
    "What do you call the person who keeps the lamp?",
    "Where do you go when it rains on a day off?",
    "How do you feel the pulse?",
    "Who is your successor as a keeper?",
    "",
]
DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = ("clapnq", "hotpot100", "musique100", "qmsum", "squad2", "twowiki", "xquad")


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return MemoizedEmbedder(load_embedder(Settings()))


@pytest.mark.parametrize("text", TALK)
def test_courtesies_are_known_by_their_words_alone(text: str) -> None:
    assert is_courtesy(text)
    assert QueryAnalyzer().analyze(text).small_talk


@pytest.mark.parametrize("text", LOOSE)
def test_other_small_talk_is_known_by_its_embedding(text: str, embedder: Embedder) -> None:
    assert not QueryAnalyzer().analyze(text).small_talk
    assert QueryAnalyzer(embedder).analyze(text).small_talk


@pytest.mark.parametrize("text", QUESTIONS)
def test_questions_are_not_swallowed(text: str, embedder: Embedder) -> None:
    assert not is_courtesy(text)
    assert not QueryAnalyzer(embedder).analyze(text).small_talk


def test_the_embedding_of_another_model_is_not_read() -> None:
    class Other:
        model_id, dimension = "somebody/else", 3

        def embed(self, texts: object) -> object:
            raise AssertionError("its vectors mean nothing to the models")

    analysis = QueryAnalyzer(Other()).analyze("Which keeper is older, Ann or Bo?")  # type: ignore[arg-type]
    assert analysis.intent == "comparative"


@pytest.mark.parametrize("name", SETS)
def test_no_question_of_the_public_sets_is_swallowed(name: str, embedder: Embedder) -> None:
    path = DATA / name / "questions.jsonl"
    if not path.is_file():
        pytest.skip("the evaluation sets are not on this machine")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    questions = [row["question"] for row in rows][:: max(1, len(rows) // 200)]
    analyzer = QueryAnalyzer(embedder)
    assert [question for question in questions if analyzer.analyze(question).small_talk] == []
