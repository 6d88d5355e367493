"""``--html``: the page of an answer beside the answer, or in its place."""

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from citeloop.engine import RAGQueryEngine
from citeloop.errors import CorpusNotFound
from citeloop.prompts.refusals import is_refusal
from citeloop.state.models import RAGResponse, UserContext
from tests.command_line import Run
from tests.handbook import guard

LEAVE = "How long is parental leave?"
SENTENCE = "Parental leave lasts 16 weeks at full pay"


def passage_on(html: str) -> str:
    page = LexborHTMLParser(html)
    assert page.css_first("h1").text() == LEAVE
    assert page.css_first("#evidence-1 mark").text() == SENTENCE
    return page.css_first("#evidence-1 blockquote").text()


def test_the_page_is_written_beside_the_answer_over_an_older_one(run: Run, stores: Path, tmp_path: Path) -> None:
    file = tmp_path / "answer.html"
    file.write_text("an older page")
    result = run(stores, "ask", LEAVE, "--html", str(file))
    assert result.returncode == 0
    assert result.stdout.startswith(f"{SENTENCE}. [1]")
    assert result.stderr.splitlines()[-1] == f"page written to {file}"
    assert "It is requested from the team lead." in passage_on(file.read_text("utf-8"))


def test_beside_json_too(run: Run, stores: Path, tmp_path: Path) -> None:
    file = tmp_path / "answer.html"
    result = run(stores, "query", LEAVE, "--reason", "planning", "--json", "--html", str(file))
    assert RAGResponse.model_validate_json(result.stdout).question == LEAVE
    assert passage_on(file.read_text("utf-8"))


def test_a_dash_puts_the_page_in_place_of_the_answer(run: Run, stores: Path) -> None:
    result = run(stores, "ask", LEAVE, "--html", "-")
    assert result.stdout.startswith("<!doctype html>")
    assert passage_on(result.stdout)


def test_a_refusal_has_a_page(run: Run, stores: Path) -> None:
    result = run(stores, "ask", "Which telescope photographed Saturn?", "--html", "-")
    page = LexborHTMLParser(result.stdout)
    answer = page.css_first("#answer").text().strip()
    assert answer.startswith("No evidence found. Looked at, without finding an answer: ") and is_refusal(answer)
    assert "“telescope photographed Saturn”" in answer or "“Saturn”" in answer
    assert page.css_first("#sources") is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--html", "missing/answer.html"), "there is no folder 'missing'"),
        (("--html", "."), "is a directory"),
        (("--html", "-", "--json"), "name a file for the page"),
    ],
)
def test_a_page_that_cannot_be_is_refused_before_the_question(
    run: Run, stores: Path, arguments: tuple[str, ...], told: str
) -> None:
    result = run(stores, "ask", LEAVE, *arguments)
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)
    assert told in result.stderr
    assert run(stores, "audit", "list").stdout == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_page_that_is_not_written_is_told_after_the_answer(run: Run, stores: Path) -> None:
    result = run(stores, "ask", LEAVE, "--html", "/dev/full")
    assert result.returncode == 1
    assert result.stdout.startswith(SENTENCE)
    assert result.stderr.splitlines()[-1].startswith("citeloop: /dev/full was not written (No space left on device)")


def test_passages_are_read_as_the_caller(engine: RAGQueryEngine) -> None:
    ana, bob = UserContext(user_id="ana"), UserContext(user_id="bob")
    guard(engine)
    response = engine.query("How many days ahead is notice given?", access_reason="x", user_context=ana)
    assert "legal" in {source.corpus for source in response.sources}
    assert any("90 days" in text for text in engine.passages_of(response, ana).values())
    for caller in (bob, None):
        with pytest.raises(CorpusNotFound):
            engine.passages_of(response, caller)
