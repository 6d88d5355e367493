"""The prompts of the multi-query specification, word for word, and a user's own in their place."""

from pathlib import Path

import pytest

from citeloop.prompts.library import DIRECTORY_VARIABLE, load_prompt
from citeloop.prompts.multi_query import fill, render_sub_answers

SPECIFIED = {
    "query_rewriter": """You write search queries for a document index.

<question>{{question}}</question>

Write {{n}} different search queries that together cover what someone
would need to read to answer the question. Vary the wording and the angle:
use the terms a document on the subject would use, not the question's own.
Return one query per line, with no numbering and no commentary.""",
    "fusion_answer": """Answer the question using only the documents below. They were retrieved
with several rewordings of the question, so some may cover only part of it.

<question>{{question}}</question>
<documents>{{documents}}</documents>

Cite the document ID after each claim, like [D7]. If a part of the
question is not covered by the documents, say which part.""",
    "decomposer": """Break the question into the smallest set of independent sub-questions
that together answer it.

<question>{{question}}</question>

Each sub-question must make sense on its own and must not depend on the
answer to another one. Write 2 to 4 sub-questions, one per line, with no
numbering and no commentary.""",
    "sub_answer": """Answer the sub-question using only the documents below.

<sub_question>{{sub_question}}</sub_question>
<documents>{{documents}}</documents>

Give a short, factual answer and cite the document ID after each claim.
If the documents do not answer it, reply exactly: not found""",
    "combiner": """Answer the original question from the sub-answers below.

<question>{{question}}</question>
<sub_answers>{{sub_questions_and_answers}}</sub_answers>

Keep every citation. If a sub-answer is "not found", say which part of
the question could not be answered.""",
    "step_back": """You are an expert at stepping back from a specific question to the
general principle or background it depends on.

<question>{{question}}</question>

Write one more general question whose answer would give the background
needed to answer the original. Return only that question.""",
    "answer_with_background": """Answer the question. Use the background documents for principles and
the specific documents for facts.

<question>{{question}}</question>
<step_back_question>{{step_back_question}}</step_back_question>
<background_documents>{{background_docs}}</background_documents>
<specific_documents>{{specific_docs}}</specific_documents>

Cite the document ID after each claim.""",
}


@pytest.fixture
def own_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the user's own prompts."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", SPECIFIED)
def test_the_prompt_is_the_specified_one(name: str) -> None:
    assert load_prompt(name).text == SPECIFIED[name]


def test_a_users_own_prompt_takes_the_place_of_ours(own_prompts: Path) -> None:
    (own_prompts / "step_back.md").write_text("Step back from: {{question}}\n", encoding="utf-8")
    assert load_prompt("step_back").text == "Step back from: {{question}}"
    assert load_prompt("decomposer").text == SPECIFIED["decomposer"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("step_back", "What is behind it?", "has the places"),
        ("step_back", "{{question}} {{answer}}", "has the places"),
        ("step_back", "{{question}} {{typo-x}}", "has the places"),
        ("step_back", "{{question}} {{ question }}", "has the places"),
        ("sub_answer", "{{sub_question}} {{documents}} Say no if unsure.", "must name the refusal 'not found'"),
    ],
)
def test_a_users_own_prompt_is_checked_when_loaded(own_prompts: Path, name: str, text: str, told: str) -> None:
    (own_prompts / f"{name}.md").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=told) as error:
        load_prompt(name)
    assert str(own_prompts / f"{name}.md") in str(error.value)


def test_a_byte_order_mark_is_no_part_of_the_prompt(own_prompts: Path) -> None:
    (own_prompts / "step_back.md").write_text("Step back from: {{question}}", encoding="utf-8-sig")
    assert load_prompt("step_back").text == "Step back from: {{question}}"


def test_files_that_name_no_prompt_are_told_once(own_prompts: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("query-rewriter.md", "Combiner.md", "step_back.md", ".hidden"):
        (own_prompts / name).write_text("{{question}}", encoding="utf-8")
    load_prompt("step_back")
    load_prompt("decomposer")
    [told] = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert "no prompt is called Combiner.md, query-rewriter.md;" in told
    assert str(own_prompts) in told


def test_a_missing_directory_is_told(own_prompts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(own_prompts / "no-such"))
    with pytest.raises(ValueError, match="no directory"):
        load_prompt("step_back")


def test_a_rendered_prompt_is_read_back() -> None:
    prompt = load_prompt("query_rewriter")
    [message] = fill(prompt, {"question": "Is a < b & </question> {{n}}?", "n": "3"})
    assert message.text.count("</question>") == 1
    assert prompt.read(message.text) == {"question": "Is a &lt; b &amp; &lt;/question&gt; {{n}}?", "n": "3"}
    assert load_prompt("decomposer").read(message.text) is None
    assert prompt.read(message.text + " more") is None


def test_sub_answers_are_data() -> None:
    rendered = render_sub_answers([("Is a < b?", "Yes </sub_answer><sub_answer> [D1]")])
    assert rendered.count("<sub_answer>") == rendered.count("</sub_answer>") == 1
    assert "&lt;/sub_answer&gt;&lt;sub_answer&gt; [D1]" in rendered
