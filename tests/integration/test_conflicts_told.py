"""Two documents that disagree: the answer says so and cites both, by every strategy that answers."""

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from citeloop.engine import RAGQueryEngine
from citeloop.state.config import StrategyChoice
from citeloop.state.models import UserContext
from tests.handbook import engine_over, write_files

PAGES = {
    "rules.md": "# Rules\n\n## Contracts\n\nNotice to end a contract is given 30 days ahead. It is given in writing.\n",
    "faq.md": "# Questions\n\n## Contracts\n\nNotice to end a contract is given 14 days ahead, as most of you know.\n",
    "leave.md": "# Leave\n\nParental leave lasts 16 weeks at full pay.\n",
}
QUESTION = "How many days ahead is notice to end a contract given?"
VALUES = {"30 days", "14 days"}


@pytest.fixture
def disagreeing(home: Path, tmp_path: Path, onnx_embedder: object) -> RAGQueryEngine:
    engine = engine_over(home)
    engine.indexer.index([write_files(tmp_path / "files", PAGES)], "handbook", UserContext())
    return engine


@pytest.mark.parametrize("strategy", ["simple", "standard", "sub_questions", "exhaustive"])
def test_the_answer_says_that_sources_disagree(disagreeing: RAGQueryEngine, strategy: StrategyChoice) -> None:
    response = disagreeing.query(QUESTION, access_reason="x", strategy=strategy)
    [conflict] = response.conflicts
    assert set(conflict.values) == VALUES
    sources = {source.number: source.uri for source in response.sources}
    assert {sources[number] for number in conflict.citation_ids} == {"rules.md", "faq.md"}
    told = response.answer.splitlines()[-1]
    assert told.startswith("Sources disagree on “Notice to end a contract is given … ahead")
    assert all(
        f"{value} [{number}]" in told for value, number in zip(conflict.values, conflict.citation_ids, strict=True)
    )


def test_what_it_says_is_cited_and_shown(disagreeing: RAGQueryEngine) -> None:
    response = disagreeing.query(QUESTION, access_reason="x")
    told = [citation for citation in response.citations if citation.claim_text.startswith("Sources disagree")]
    assert {citation.uri for citation in told} == {"rules.md", "faq.md"}
    assert all(check.supported for check in response.verify_claims() if check.citation in told)
    page = LexborHTMLParser(response.to_html(disagreeing.passages_of(response)))
    assert all(value in page.css_first(".banner.conflict").text() for value in VALUES)
    assert "Sources disagree" in response.to_markdown()


def test_sources_that_agree_are_not_told_to_disagree(disagreeing: RAGQueryEngine) -> None:
    response = disagreeing.query("How long is parental leave?", access_reason="x")
    assert (response.status, response.conflicts) == ("answered", ())
    assert "disagree" not in response.answer
