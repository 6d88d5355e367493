"""Replies of rewriters, decomposers and step-back models, as they come, and what each becomes."""

import pytest

from citeloop.retrieval.query_replies import read_rewrites, read_step_back, read_sub_questions
from citeloop.text.reply_lists import read_list

QUESTION = "What is the notice period?"

HOSTILE = {
    "lines": ("notice weeks\nresignation rules", ["notice weeks", "resignation rules"]),
    "blank lines and white space": (
        "\n notice   weeks \n\n\tresignation rules\n",
        ["notice weeks", "resignation rules"],
    ),
    "numbers": (
        "1. notice weeks\n2) resignation rules\n(3) contract end",
        ["notice weeks", "resignation rules", "contract end"],
    ),
    "numbers without a space": ("1.Notice weeks\n2.Resignation rules", ["Notice weeks", "Resignation rules"]),
    "bullets": (
        "- notice weeks\n* resignation rules\n• contract end",
        ["notice weeks", "resignation rules", "contract end"],
    ),
    "labels": (
        "Alternative question 1: How long is notice?\nAlternative question 2: When may I leave?",
        ["How long is notice?", "When may I leave?"],
    ),
    "bold labels": ("**Query 1:** notice weeks\n**Query 2:** resignation rules", ["notice weeks", "resignation rules"]),
    "quotes": (
        "\"notice weeks\",\n“resignation rules”\n'contract end'",
        ["notice weeks", "resignation rules", "contract end"],
    ),
    "a preamble and an ending": (
        "Here are three queries:\n\nnotice weeks\n\nresignation rules\n\nI hope this helps!",
        ["notice weeks", "resignation rules"],
    ),
    "commentary between marked lines": (
        "Rewording the question from two angles\n1. notice weeks\n2. resignation rules\nBoth cover it.",
        ["notice weeks", "resignation rules"],
    ),
    "a fence": ("Sure!\n```\nnotice weeks\nresignation rules\n```\nDone.", ["notice weeks", "resignation rules"]),
    "a JSON list": ('["notice weeks", "resignation rules"]', ["notice weeks", "resignation rules"]),
    "a JSON object in a fence": (
        '```json\n{"queries": ["notice weeks", "resignation rules"]}\n```',
        ["notice weeks", "resignation rules"],
    ),
    "JSON objects": (
        '{"queries": [{"query": "notice weeks", "why": "x"}, {"query": "rules"}]}',
        ["notice weeks", "rules"],
    ),
    "JSON lines": ('{"query": "notice weeks"}\n{"query": "rules"}', ["notice weeks", "rules"]),
    "JSON objects with ids": (
        '[{"id": "q1", "query": "notice weeks"}, {"id": "q2", "query": "rules"}]',
        ["notice weeks", "rules"],
    ),
    "JSON lines with types": (
        '{"type": "keyword", "text": "notice weeks"}\n{"type": "dense", "text": "rules"}',
        ["notice weeks", "rules"],
    ),
    "JSON with reasons": ('{"reasons": ["wide"], "queries": ["notice weeks"]}', ["notice weeks"]),
    "numbers on one line": ("Here they are: 1. notice weeks 2. rules 3. ends", ["notice weeks", "rules", "ends"]),
    "tags left open": ("<query>notice weeks\n<query>rules", ["notice weeks", "rules"]),
    "a preamble in the first person": ("I've reworded it\nnotice weeks\nrules", ["notice weeks", "rules"]),
    "a refusal to answer": ("I cannot generate queries for this.", []),
    "none needed": ("No sub-questions needed.", []),
    "JSON behind a preamble": ('The queries: ["notice weeks", "rules"]\nLet me know!', ["notice weeks", "rules"]),
    "a program": (
        "```python\nqueries = [\n    'what\\'s notice',\n    'rules',\n]\nprint(queries)\n```",
        ["what's notice", "rules"],
    ),
    "tags": ("<query>notice weeks</query>\n<query>rules</query>", ["notice weeks", "rules"]),
    "thinking": ("<think>\n1. no\n2. maybe\n</think>\nnotice weeks\nrules", ["notice weeks", "rules"]),
    "another language": (
        "Wie lang ist die Frist?\n解雇通知の期間は？",
        ["Wie lang ist die Frist?", "解雇通知の期間は？"],
    ),
    "questions on one line": ("What is notice? Who is told? When?", ["What is notice?", "Who is told?", "When?"]),
    "the question itself": ("what is  the NOTICE period\nnotice weeks\nNotice weeks.", ["notice weeks"]),
    "fifty lines": ("\n".join(f"query {n}" for n in range(50)), ["query 0", "query 1", "query 2"]),
    "one line of ten thousand characters": ("word " * 2_000, []),
    "a line without a space": ("x" * 10_000, []),
    "nothing": ("", []),
    "blank": (" \n\n\t\n", []),
    "a refusal": ("I'm sorry, but I can't help with that.", []),
    "none": ("None", []),
    "null": ("null", []),
    "an empty list": ("[]", []),
    "marks only": ("1.\n-\n***\n---", []),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_rewriters_reply(name: str) -> None:
    reply, expected = HOSTILE[name]
    assert read_rewrites(reply, QUESTION, 3).kept == expected


LOOKS_LIKE_MARKUP = """3.5 mm jack wiring
3.x upgrade guide
2024: what happened
911: emergency line
24/7 support
query-time joins
return policy
is config["a"] set
version 3.2 release notes
Q4-2023 revenue figures
alternative 4-stroke engine designs
search engine – history
Explanation of photosynthesis in plants
the following distance rule
sure start centres
of course catalogue
okay button colour
I can't log in to VPN
I have lost my badge
no questions asked refunds
import tariffs
E = mc^2 derivation
2**10 in words
what does __init__ do
#hashtag marketing
When was <director> born?
compare sections 1. and 2. of the act"""


@pytest.mark.parametrize("line", LOOKS_LIKE_MARKUP.splitlines())
def test_what_only_looks_like_a_mark_stays(line: str) -> None:
    assert read_list(f"{line}\nnotice weeks") == [line, "notice weeks"]


@pytest.mark.parametrize(
    "bomb", ["[", "[1[1", "1. ", "* ", '"', '{"a":', "['", "**", "<a", "\\", "```\n", "- 1. ", "1. 2. "]
)
def test_long_repeats_are_read_in_linear_time(bomb: str) -> None:
    assert len(read_list(bomb * (2_000_000 // len(bomb)))) <= 1


@pytest.mark.parametrize("ending", ["…", "...", "?", "？", " !"])
def test_closing_punctuation_makes_no_other_query(ending: str) -> None:
    assert read_rewrites(f"What is the notice period{ending}\nnotice weeks", QUESTION, 3).kept == ["notice weeks"]


def test_what_is_not_taken_is_told() -> None:
    read = read_rewrites(f"{QUESTION}\na b\nA  B\nc d\ne f", QUESTION, 2)
    assert read.kept == ["a b", "c d"]
    assert read.dropped == [
        (QUESTION, "equals the question"),
        ("A B", "equals an earlier one"),
        ("e f", "over the limit of 2"),
    ]


def test_sub_questions_over_the_cap_and_dependent_ones_are_told() -> None:
    reply = "Who founded Acme?\nWhen was he born?\nWhere is Acme?\nWhat does Acme sell?\nWho owns Acme?\nWho runs Acme?"
    read = read_sub_questions(reply, 4)
    assert read.kept == ["Who founded Acme?", "Where is Acme?", "What does Acme sell?", "Who owns Acme?"]
    assert read.dropped == [
        ("When was he born?", "depends on another answer"),
        ("Who runs Acme?", "over the limit of 4"),
    ]


@pytest.mark.parametrize(
    "reply",
    [
        "What governs leave?",
        '"What governs leave?"',
        "Sure! Here is a more general question:\n\nWhat governs leave?",
        "The question is about leave.\nStep-back question: What governs leave?",
        "<think>hm</think>What governs leave?",
        "What governs leave?\nWho decides on it?",
        "Original: How long is it?\nStep-back: What governs leave?",
        "Step-back question:\nWhat governs leave?\nOriginal: How long is it?",
        '{"original": "How long is it?", "step_back": "What governs leave?"}',
    ],
)
def test_the_step_back_question(reply: str) -> None:
    assert read_step_back(reply, QUESTION) == "What governs leave?"


@pytest.mark.parametrize("reply", ["", "I cannot help.", "null", QUESTION.upper()])
def test_no_step_back_question(reply: str) -> None:
    assert read_step_back(reply, QUESTION) == ""
