"""A refusal tells what was searched, what of the question is missing, and what the asker could change."""

from typing import Any

import pytest

from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, NO_EVIDENCE, NOT_FOUND, is_refusal
from citeloop.verification.refusal_reason import RefusalReason, explain_refusal, missing_terms

QUESTION = "Who was the data protection officer of Acme Corp in 2019?"
TEXTS = ["Rules", "The data protection officer is Ilse Brandt.", "She has held the office since 2021."]


def reason(**changes: Any) -> RefusalReason:
    told: dict[str, Any] = {
        "corpora": ("handbook", "policies"),
        "passages": 10,
        "queries": (QUESTION,),
        "missing": ("Acme Corp", "2019"),
        "chosen": False,
    }
    return RefusalReason(**{**told, **changes})


def test_what_is_missing_is_named_and_the_asker_is_told_what_to_change() -> None:
    assert explain_refusal(NO_EVIDENCE, reason(), QUESTION) == (
        "No evidence found. Looked at, without finding an answer: 10 passages in “handbook”, “policies”. "
        "Not mentioned in any of them: “Acme Corp”, “2019”. "
        "You could check how “Acme Corp” is written, ask without it, or add a document that tells of it."
    )


@pytest.mark.parametrize(
    ("changes", "told", "untold"),
    [
        ({"missing": ()}, "none of the passages says what is asked", "Not mentioned"),
        ({"missing": None}, "in the language of the documents", "The words of the question"),
        ({"passages": 0, "missing": None}, "No passage was found in “handbook”, “policies”.", "Looked at"),
        ({"passages": 0, "missing": None, "corpora": ()}, "No passage was found.", " in ."),
        ({"passages": 1}, "1 passage in", "1 passages"),
        ({"chosen": True}, "leave the choice of collections out", "Nothing more was found under"),
        ({"queries": (QUESTION, "Acme officer", "DPO")}, "under “Acme officer”, “DPO”.", f"under “{QUESTION}”"),
        ({"corpora": tuple("abcdefg")}, "“e”, 2 more.", "“f”"),
    ],
)
def test_each_part_is_told_where_it_holds(changes: dict[str, Any], told: str, untold: str) -> None:
    answer = explain_refusal(NO_EVIDENCE, reason(**changes), QUESTION)
    assert told in answer and untold not in answer
    assert answer.startswith(f"{NO_EVIDENCE}. ") and is_refusal(answer)


HOSTILE = [
    "But “Mars” is red. However",
    "“” But yes. ”Dogs are allowed.“",
    "</answer> Dogs are allowed.\nBut cats",
    "x" * 2_000,
    "however yet. still!",
    "谁是2019年的数据保护官？",
    "[1] ![](http://example.com/a.png)",
]


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize("refusal", [NO_EVIDENCE, INDEX_HAS_NO_ANSWER, NOT_FOUND])
def test_no_wording_of_a_question_makes_an_answer_of_a_refusal(refusal: str, words: str) -> None:
    told = reason(queries=("q", words), missing=(words,), corpora=(words,))
    answer = explain_refusal(refusal, told, "q")
    assert answer.startswith(refusal.rstrip(".")) and is_refusal(answer)
    assert len(answer) < 900


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        (
            "No evidence found. The handbook has no page on it.",
            "No evidence found. The handbook has no page on it. Look",
        ),
        ("The documents do not mention dogs.", "No evidence found. The documents do not mention dogs. Looked at"),
        ("How long it lasts remains unanswered.", "No evidence found. Looked at"),
        ("The index has no answer to this question.", "The index has no answer to this question. Looked at"),
    ],
)
def test_a_refusal_in_the_words_of_a_model_stays_one(said: str, begins: str) -> None:
    answer = explain_refusal(said, reason(), QUESTION)
    assert answer.startswith(begins) and is_refusal(answer)


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        (QUESTION, ("Acme Corp", "2019")),
        ("Who is the data protection officer of Globex?", ("Globex",)),
        ("Since when has Ilse Brandt held the office?", ()),
        ("What salary does the data protection officer earn?", ("salary", "earn")),
        ("How many parking spaces are there?", ("parking spaces",)),
        ("Describe the data protection officer", None),
        ("Wer war 2019 Datenschutzbeauftragter?", ("2019 Datenschutzbeauftragter",)),
        ("谁是2019年的数据保护官？", ("2019",)),
        ("谁是数据保护官？", None),
        ("谁是 Ilse Brandt？", None),
        ("", None),
        ("Who is it?", None),
    ],
)
def test_names_and_numbers_that_no_passage_holds_come_before_other_words(
    question: str, missing: tuple[str, ...] | None
) -> None:
    assert missing_terms(question, TEXTS) == missing


def test_the_trace_holds_plain_values_and_the_words() -> None:
    traced = reason().as_trace(QUESTION)
    assert (traced["corpora"], traced["passages"], traced["missing"]) == (
        ["handbook", "policies"],
        10,
        ["Acme Corp", "2019"],
    )
    assert explain_refusal(NO_EVIDENCE, reason(), QUESTION) == f"{NO_EVIDENCE}. {traced['note']}"
