"""A user's own prompts: a setting of the process, checked when an engine is opened."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from citeloop import open_engine
from citeloop.errors import InvalidRequest
from citeloop.prompts.library import use_prompts
from citeloop.settings import Settings
from citeloop.testing import ScriptedChatModel
from tests.command_line import Run

GROUNDED = "My own words. {{question}} {{documents}} Else say: {{refusal}}"


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """A folder for prompts; afterwards the process has ours again."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    yield folder
    use_prompts(None)


def test_an_engine_asks_with_the_users_own_prompts(stores: Path, own: Path) -> None:
    (own / "grounded_question.md").write_text(GROUNDED, encoding="utf-8")
    model = ScriptedChatModel(replies=lambda messages: "Parental leave lasts 16 weeks at full pay. [1]")
    engine = open_engine(stores, settings=Settings(prompts=own), llm=model)
    engine.query("How long is parental leave?", access_reason="t")
    assert "My own words." in model.prompts[0]


@pytest.mark.parametrize(
    ("text", "told"), [("{{question}} {{answer}}", "has the places"), ("{{question}} {{documents}}", "has the places")]
)
def test_a_prompt_that_does_not_fit_is_told_when_the_engine_is_opened(
    stores: Path, own: Path, text: str, told: str
) -> None:
    (own / "grounded_question.md").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidRequest, match=f"setting CITELOOP_PROMPTS: prompt .*grounded_question.md {told}"):
        open_engine(stores, settings=Settings(prompts=own))
    open_engine(stores, settings=Settings())


def test_a_bad_folder_is_one_line_of_the_command(run: Run, stores: Path) -> None:
    ended = run(stores, "ask", "How long is parental leave?", CITELOOP_PROMPTS="/no/such/folder")
    assert ended.returncode == 2
    assert ended.stderr == "citeloop: setting CITELOOP_PROMPTS: /no/such/folder is no directory\n"


def test_prompts_that_are_no_text_are_told(stores: Path, own: Path) -> None:
    (own / "step_back.md").write_bytes(b"\xff\xfe{{question}}")
    with pytest.raises(InvalidRequest, match=r"step_back\.md cannot be read"):
        open_engine(stores, settings=Settings(prompts=own))
