"""Relevance of sentences, passages and answers, over vectors of our own making."""

import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import pytest

from citeloop.models.embedder import Vectors
from citeloop.models.evidence import EvidencePassage
from citeloop.retrieval.question_type import ExpectedAnswer, expected_answer
from citeloop.retrieval.relevance import LinearModel, RelevanceJudge, load_relevance_models, probability
from citeloop.retrieval.relevance_features import CandidateSet, EmbeddedPassage, Question, sentence_features
from citeloop.retrieval.sentence_signals import read_signals
from citeloop.text.words import content_stems

WEIGHTS_SHA256 = "8f872d219e981086b1e10311398d5f611fb00394ef3bec136624c141c7f848ad"

HARBOUR = EvidencePassage(
    "Port of Varn",
    (
        "The harbour of Varn was widened in 1871.",
        "Ada Lindqvist designed the new lighthouse.",
        "Its lamp is lit every evening.",
    ),
)
BAKERY = EvidencePassage("Bread", ("Rye bread keeps for a week.", "The dough rests overnight."))


class BagOfStems:
    """Embeds by hashing stems: texts that share words are near."""

    model_id = "bag-of-stems"
    dimension = 64

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for stem in content_stems(text):
                row[int(hashlib.sha256(stem.encode()).hexdigest(), 16) % self.dimension] += 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


@pytest.fixture
def judge() -> RelevanceJudge:
    return RelevanceJudge(BagOfStems())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who designed the lighthouse?", ExpectedAnswer.PERSON),
        ("In what year was it widened?", ExpectedAnswer.TIME),
        ("How many lamps are there?", ExpectedAnswer.QUANTITY),
        ("Where does the ferry stop?", ExpectedAnswer.PLACE),
        ("Why was the pier closed?", ExpectedAnswer.REASON),
        ("How is the lamp lit?", ExpectedAnswer.MANNER),
        ("What keeps for a week?", ExpectedAnswer.OTHER),
        ("灯塔是谁设计的？", ExpectedAnswer.OTHER),
    ],
)
def test_the_kind_of_answer_is_read_off_the_question(question: str, expected: ExpectedAnswer) -> None:
    assert expected_answer(question) is expected


def test_signals_tell_names_numbers_and_dates_apart() -> None:
    signals = read_signals("The harbour of Varn was widened in 1871 by two hundred men.")
    assert signals.names == {"varn"}
    assert {"1871", "two", "hundred"} == signals.numbers
    assert signals.dated and not signals.reasoned


@pytest.mark.parametrize(
    ("question", "best"),
    [("Who designed the lighthouse of Varn?", 1), ("When was the harbour of Varn widened?", 0)],
)
def test_the_sentence_that_answers_ranks_first(judge: RelevanceJudge, question: str, best: int) -> None:
    harbour, bakery = judge.score_sentences(question, [HARBOUR, BAKERY])
    assert int(harbour.argmax()) == best
    assert harbour.max() > bakery.max()


def test_scores_come_back_by_passage(judge: RelevanceJudge) -> None:
    assert [len(scores) for scores in judge.score_sentences("Who?", [HARBOUR, BAKERY])] == [3, 2]
    assert judge.score_sentences("Who?", []) == []


@pytest.mark.parametrize("question", ["", "?", "the of and", "灯塔", "\N{PILE OF POO}"])
def test_questions_without_content_words_score_finite(judge: RelevanceJudge, question: str) -> None:
    assert np.isfinite(np.concatenate(judge.score_sentences(question, [HARBOUR, BAKERY]))).all()
    assert 0 <= judge.answer_relevance(question, [HARBOUR]) <= 1


def test_the_passage_that_holds_the_answer_is_graded_higher(judge: RelevanceJudge) -> None:
    harbour, bakery = judge.passage_relevance("Who designed the lighthouse of Varn?", [HARBOUR, BAKERY])
    assert 1 >= harbour > bakery >= 0


def test_a_grade_does_not_rest_on_the_first_rank(judge: RelevanceJudge) -> None:
    bakery, harbour = judge.passage_relevance("Who designed the lighthouse of Varn?", [BAKERY, HARBOUR])
    assert harbour > bakery


def test_an_answer_is_more_relevant_than_a_stranger(judge: RelevanceJudge) -> None:
    question = "Who designed the lighthouse of Varn?"
    said = EvidencePassage("Port of Varn", ("Ada Lindqvist designed the new lighthouse.",))
    assert judge.answer_relevance(question, [said]) > 0.5 > judge.answer_relevance(question, [BAKERY])


def test_no_evidence_is_no_answer(judge: RelevanceJudge) -> None:
    assert judge.answer_relevance("Who?", []) == 0.0


def test_features_of_a_sentence_know_its_neighbour_only_within_the_passage() -> None:
    embed = BagOfStems().embed
    passages = [EmbeddedPassage(passage, embed(passage.sentences)) for passage in (HARBOUR, BAKERY)]
    question = Question("When was the lamp widened?", embed(["When was the lamp widened?"])[0])
    columns = sentence_features(CandidateSet(question, passages))
    assert columns["coverage_in_window"][1] > columns["coverage"][1]  # its neighbour says "widened"
    assert columns["coverage_in_window"][3] == columns["coverage"][3] == 0  # the lamp before it is another passage's


def test_probability_does_not_overflow() -> None:
    assert probability(np.array([-1e6, 0.0, 1e6])).tolist() == [0.0, 0.5, 1.0]
    assert probability(np.array([-np.inf])).tolist() == [0.0]


def test_a_linear_model_reads_columns_by_name() -> None:
    model = LinearModel(1.0, {"a": 2.0, "b": -1.0})
    columns = {"b": np.array([1.0, 0.0]), "a": np.array([0.5, 0.0]), "unused": np.array([9.0, 9.0])}
    assert model.logits(columns).tolist() == [1.0, 1.0]


def test_the_shipped_weights_are_those_that_were_made() -> None:
    told = json.loads(files("citeloop.retrieval").joinpath("relevance_weights.json").read_text(encoding="utf-8"))
    assert hashlib.sha256(json.dumps(told["models"], sort_keys=True).encode()).hexdigest() == WEIGHTS_SHA256
    assert told["sha256"] == WEIGHTS_SHA256
    assert told["made_by"] == "benchmarks/train_relevance.py"
    assert load_relevance_models().sentence.weights == told["models"]["sentence"]["weights"]
