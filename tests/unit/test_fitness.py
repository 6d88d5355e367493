"""Sentences that cannot answer, however near they come to the question."""

import numpy as np
import pytest

from citeloop.models.fitness import weigh_fitness
from citeloop.models.quotable import Quotable

QUESTION = "How can the lamp be put out at dawn?"


def loss(text: str, question: str = QUESTION) -> float:
    (scores,) = weigh_fitness(question, [[Quotable(text, is_item=False)]], [np.array([5.0])])
    return 5.0 - float(scores[0])


@pytest.mark.parametrize(
    "text", ["For example, the lamp can be put out at dawn.", "[Put out the lamp at dawn](https://lamp.example/4711)"]
)
def test_what_only_repeats_the_question_is_no_answer(text: str) -> None:
    assert loss(text) == np.inf


@pytest.mark.parametrize("text", ["The lamp is put out by the keeper.", "When dawn comes, it is dawn for the lamp."])
def test_what_says_more_is(text: str) -> None:
    assert loss(text) == 0


def test_a_question_for_yes_or_no_may_be_answered_in_its_own_words() -> None:
    assert loss("The lamp is put out at dawn.", "Is the lamp put out at dawn?") == 0


def test_a_repetition_that_leads_in_its_answer_is_one() -> None:
    assert loss("The lamp can be put out at dawn:") == 0


def test_a_sentence_about_the_text_comes_after_one_about_the_matter() -> None:
    assert 0 < loss("This section describes how lamps are put out and by whom.") < np.inf


def test_a_translation_comes_after_what_the_asker_reads() -> None:
    assert 0 < loss("守灯人在黎明时熄灭 lamp 灯。") < np.inf
    assert 0 < loss("The keeper puts it out.", "灯是谁熄灭的？") < np.inf
    assert loss("守灯人在黎明时熄灭它。", "灯是谁熄灭的？") == 0
    assert loss("Le gardien l'éteint à l'aube.") == 0
