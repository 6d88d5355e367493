"""The offline model's queries, and its answers to the prompts of the multi-query patterns."""

import pytest

from citeloop.models.extractive import WRITERS, ExtractiveChatModel
from citeloop.models.query_writers import names
from citeloop.prompts.grounded_answer import render_document
from citeloop.prompts.library import load_prompt
from citeloop.prompts.multi_query import fill, render_sub_answers
from citeloop.prompts.refusals import NO_EVIDENCE, NOT_FOUND
from tests.unit.test_extractive import WordJudge

MODEL = ExtractiveChatModel(judge=WordJudge())
LAMP = render_document("D7", "Lamps", [], "It rained. Ada keeps the lamp.")
BOATS = render_document("D2", "Boats", [], "Boats pass by night.")


def write(name: str, elements: dict[str, str] | None = None, **texts: str) -> str:
    return MODEL.invoke(fill(load_prompt(name), texts, elements or {})).text


def test_every_prompt_that_asks_for_text_is_answered() -> None:
    assert WRITERS.keys() >= {"query_rewriter", "fusion_answer", "decomposer", "sub_answer", "combiner", "step_back"}


def test_rewrites_are_names_and_keywords_with_what_an_answer_says() -> None:
    rewrites = write("query_rewriter", question="When did Ada Lovelace meet Charles Babbage?", n="3").splitlines()
    assert rewrites == ["Ada Lovelace", "Charles Babbage", "Ada Lovelace meet Charles Babbage date year"]
    assert len(write("query_rewriter", question="When did Ada Lovelace meet Charles Babbage?", n="2").splitlines()) == 2


def test_a_question_without_names_is_reworded_by_its_keywords() -> None:
    rewrites = write("query_rewriter", question="How do I reset my password?", n="3").splitlines()
    assert rewrites == ["reset password steps procedure", "reset password"]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is the notice period and who must be told?", ["What is the notice period?", "who must be told?"]),
        ("What is a lamp? Who keeps it lit?", ["What is a lamp?", "Who keeps it lit?"]),
        (
            "Was Ada Lovelace or Mary Shelley born first?",
            ["Was Ada Lovelace born first?", "Was Mary Shelley born first?"],
        ),
        ("What is the difference between HTTP and HTTPS?", ["What is HTTP?", "What is HTTPS?"]),
        (
            "What are the causes and duration of jet lag?",
            ["What are the causes of jet lag?", "What are the duration of jet lag?"],
        ),
        ("Who keeps the lamp?", ["Who keeps the lamp?"]),
    ],
)
def test_a_compound_question_is_split_at_its_seams(question: str, parts: list[str]) -> None:
    assert write("decomposer", question=question).splitlines() == parts


def test_the_step_back_question_is_about_what_is_named_or_treated() -> None:
    assert write("step_back", question="Where did Ada Lovelace live in 1840?") == (
        "What is generally known about Ada Lovelace?"
    )
    assert write("step_back", question="How long is parental leave?") == (
        "What are the general rules and principles of long parental leave?"
    )


@pytest.mark.parametrize("name", ["query_rewriter", "decomposer", "step_back"])
def test_a_question_of_stop_words_comes_back_itself(name: str) -> None:
    values = {"n": "3"} if name == "query_rewriter" else {}
    assert write(name, question="who are you?", **values) == "who are you?"


def test_names_are_phrases_in_capitals_or_quotes() -> None:
    assert names('Who sang "hey jude" in the Royal Albert Hall of London?') == [
        "hey jude",
        "Royal Albert Hall of London",
    ]
    assert names("解雇通知の期間は？") == names("what is the fee?") == []


def test_a_sub_answer_quotes_or_says_not_found() -> None:
    question = "Who keeps the lamp?"
    assert write("sub_answer", {"documents": LAMP + BOATS}, sub_question=question) == "Ada keeps the lamp. [D7]"
    assert write("sub_answer", {"documents": ""}, sub_question=question) == NOT_FOUND
    assert write("fusion_answer", {"documents": ""}, question=question) == NO_EVIDENCE


def test_the_combination_keeps_citations_and_says_what_is_missing() -> None:
    pairs = render_sub_answers([("Who keeps it?", "Ada & Bo keep it. [D7]"), ("Since when?", NOT_FOUND)])
    combined = write("combiner", {"sub_questions_and_answers": pairs}, question="Who keeps it and since when?")
    assert combined == "Ada & Bo keep it. [D7]\n\nThe documents do not answer: Since when?"


def test_background_is_read_beside_the_specific_documents() -> None:
    answer = write(
        "answer_with_background",
        {"background_docs": LAMP, "specific_docs": BOATS},
        question="Who keeps the lamp?",
        step_back_question="What are lamps?",
    )
    assert answer == "Ada keeps the lamp. [D7]"
