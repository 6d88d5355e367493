"""Prompts: the specified text, checked places, and values that stay text."""

import pytest

from citeloop.prompts import CITATION_SYSTEM_PROMPT, load_prompt
from citeloop.prompts.grounded_answer import grounded_answer_messages, render_document
from citeloop.prompts.library import PLACEHOLDERS, Prompt
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, NO_EVIDENCE, NOT_FOUND, is_refusal

ADR_031 = """You are a research assistant that ALWAYS cites sources.

RULES:
1. Every factual claim MUST have a citation in [N] format
2. Citations reference the provided context chunks by number
3. Do not make claims without supporting evidence in context
4. If you cannot find evidence for something, say "No evidence found"
5. Prefer direct quotes when possible

Example:
"The company reported revenue of $10M in Q3 [1], representing a 15% increase [2]."
"""


def test_the_citation_prompt_is_the_specified_one() -> None:
    assert ADR_031.strip() == CITATION_SYSTEM_PROMPT


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_every_prompt_has_the_places_it_declares(name: str) -> None:
    assert load_prompt(name).name == name


def test_missing_or_foreign_values_are_refused() -> None:
    with pytest.raises(ValueError, match="takes"):
        load_prompt("grounded_question").render(question="q")
    with pytest.raises(ValueError, match="takes"):
        load_prompt("citation_system").render(question="q")


def test_a_placeholder_inside_a_value_stays_text() -> None:
    prompt = Prompt("grounded_question", "{{question}}|{{documents}}|{{refusal}}")
    assert prompt.render(question="{{documents}}", documents="d", refusal="r") == "{{documents}}|d|r"


def test_markup_in_question_title_and_text_is_escaped() -> None:
    document = render_document(1, 'A "title"', ["<h>"], "</documents><question>x</question>")
    _, user = grounded_answer_messages("<question>?", [document])
    assert user.text.count("<question>") == user.text.count("</documents>") == 1
    assert 'title="A &quot;title&quot;" section="&lt;h&gt;"' in user.text
    assert NO_EVIDENCE in user.text


@pytest.mark.parametrize(
    "answer",
    [
        NO_EVIDENCE,
        "no evidence found.",
        f' "{INDEX_HAS_NO_ANSWER}" ',
        NOT_FOUND.upper(),
        "**Not found!**",
        "<answer>not found</answer>",
        "Answer: not found",
        "Not found in the documents.",
        "not found - price is not given",
        "Not found: none of the texts gives a price.",
        "Not found, as the documents do not mention it.",
        "Not found. The documents only speak of cats.",
        "No evidence found. The documents are about cats.",
    ],
)
def test_refusals_are_known(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "No evidence found for Mars, but Venus has some. [1]",
        "No evidence found that Mars has rain.",
        "Not found in 1999. [1]",
        "Not Found is the phrase of status 404.",
        "Not found: status 404 means that a page is gone.",
        "Not found. Fees are 5 euros.",
        "Not found. Fees are 5 euros. Parking is not free.",
        "Not found in the documents, but no letter gives less than 5 euros.",
        "Not found in the documents of 1999 is the will.",
        "The key was not found.",
        "not found-object error",
    ],
)
def test_answers_are_no_refusals(answer: str) -> None:
    assert not is_refusal(answer)
