"""Sub-questions that need another's answer, told apart from those that only sound like it."""

import pytest

from citeloop.retrieval.query_replies import depends, read_sub_questions


@pytest.mark.parametrize(
    "sub_question",
    [
        "When was he born?",
        "What is its capital?",
        "Who founded the company from question 1?",
        "When did the person from step 1 die?",
        "Where is the city named in answer 2?",
        "What is the revenue of #1?",
        "Where was #1 born?",
        "Who directed #1?",
        "Which country is identified above?",
        "What is the population of that city?",
        "Where was that director born?",
        "In what year did that country join the EU?",
        "Who directed this film?",
        "What does it cost?",
        "What year was the answer to the first question born?",
        "What was the result of the previous step?",
        "Where is the birthplace of {person}?",
        "Where was [the director] born?",
        "Where was [PERSON] born?",
        "When was <director> born?",
        "Who taught the former?",
    ],
)
def test_dependent_sub_questions(sub_question: str) -> None:
    assert depends(sub_question)


@pytest.mark.parametrize(
    "sub_question",
    [
        "Where did Curie do her doctorate?",
        "Where do employees park their cars?",
        "How long does it take to fly to Rome?",
        "Is it legal to park here?",
        "Is it raining in Paris?",
        "What time is it in Tokyo?",
        "What happened this year?",
        "What is step 1 of the plan?",
        "What does question 5 of the census ask?",
        "What is the answer to question 15 of the census?",
        "Which rule says that visitors wear a badge?",
        "Did Acme grow before that year?",
        "How likely is that a bank fails?",
        "What were the results of the first election in South Africa?",
        "What was the result of the last match between France and Italy?",
        "Who was the #1 NBA draft pick in 2003?",
        "Which song was #1 in 2003?",
        "What does the <div> tag do?",
        "What does [sic] mean?",
    ],
)
def test_independent_sub_questions(sub_question: str) -> None:
    assert not depends(sub_question)


def test_a_place_left_open_in_tags_is_seen_in_the_reply() -> None:
    read = read_sub_questions("Who directed Alien?\nWhen was <director> born?\nWhere is Acme?", 4)
    assert read.kept == ["Who directed Alien?", "Where is Acme?"]
    assert read.dropped == [("When was <director> born?", "depends on another answer")]
