"""The strategy multi_hop: search, what is still open, a follow-up, search; offline and with a model."""

from pathlib import Path
from typing import Any

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, is_refusal
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse, UserContext
from tests.handbook import engine_over, write_files
from tests.strategy_fakes import calls_of, handbook_model, inside

PAGES = {
    "press.md": "# Orrery Press\n\nOrrery Press was founded by Ilse Varga. It printed star maps for sailors.\n",
    "varga.md": "# Ilse Varga\n\nIlse Varga came into the world in Szeged. Her sister kept bees.\n",
    **{
        f"press{n}.md": f"# Press {n}\n\nThe printing press number {n} stands in hall {n}. Its founder was born here.\n"
        for n in range(12)
    },
}
QUESTION = "In which town was the founder of Orrery Press born?"


@pytest.fixture
def atlas(stores: Path, tmp_path: Path) -> Path:
    """The handbook's home with a corpus in which one page leads to another."""
    engine_over(stores).indexer.index([write_files(tmp_path / "atlas", PAGES)], "atlas", UserContext())
    return stores


def ask(engine: RAGQueryEngine, question: str = QUESTION, strategy: str = "multi_hop", **settings: Any) -> RAGResponse:
    config = RAGConfig.model_validate({"strategy": strategy, "top_k": 3, "max_correction_rounds": 0, **settings})
    return engine.query(question, access_reason="t", corpus_ids=["atlas"], config=config)


def titles(response: RAGResponse) -> set[str]:
    return {source.title for source in response.sources}


def test_the_page_behind_the_page_is_found_without_a_model(atlas: Path) -> None:
    engine = engine_over(atlas)
    response = ask(engine)
    assert {"Orrery Press", "Ilse Varga"} <= titles(response)
    assert "Ilse Varga" not in titles(ask(engine, strategy="standard")), "one search does not reach it"
    assert (response.strategy_used, response.context_used.hops_executed) == ("multi_hop", response.hops_executed)
    assert 2 <= response.hops_executed <= 3


def test_hops_and_their_queries_are_told(atlas: Path) -> None:
    trace = ask(engine_over(atlas)).trace
    first, second = trace["hops"][:2]
    assert [query["query"] for query in first["queries"]] == [QUESTION]
    assert "town" in first["open"]
    assert "Ilse Varga" in [query["about"] for query in second["queries"]]
    assert trace["follow_ups"][0]["written_by"] == "names in the passages"
    assert trace["hops"][-1]["note"]
    searched = {query["query"]: query["origin"] for query in trace["queries"]}
    assert {searched[query["query"]] for query in second["queries"]} == {"follow_up"}


def test_a_model_writes_the_follow_ups(atlas: Path) -> None:
    replies = iter(["1. Ilse Varga town", "none"])
    model = handbook_model(follow_up=lambda prompt: next(replies), answer="No evidence found")
    response = ask(engine_over(atlas, model))
    first, *_ = calls_of(model, "follow_up")
    assert inside(first, "question") == QUESTION
    assert "founded by Ilse Varga" in inside(first, "documents")
    assert "town" in inside(first, "open")
    assert [told["written_by"] for told in response.trace["follow_ups"]] == ["model", "model"]
    assert [query["query"] for query in response.trace["hops"][1]["queries"]] == ["Ilse Varga town"]
    assert response.hops_executed == 2, "nothing is missing, so nothing is searched"


@pytest.mark.parametrize("reply", ["", TimeoutError(), "No evidence found"], ids=["empty", "failure", "refusal"])
def test_without_a_reply_the_names_in_the_passages_lead_on(atlas: Path, reply: Any) -> None:
    model = handbook_model(follow_up=reply, answer="No evidence found")
    trace = ask(engine_over(atlas, model)).trace
    assert trace["follow_ups"][0]["written_by"] == "names in the passages"
    assert bool(trace["follow_ups"][0]["fallback"]) is (reply != "No evidence found")
    assert len(trace["hops"]) > 1


def test_it_never_goes_on_for_ever(atlas: Path) -> None:
    endless = handbook_model(
        follow_up=lambda prompt: f"Press {prompt.count('<document ')} {hash(prompt)}", answer="No evidence found"
    )
    engine = engine_over(atlas, endless)
    assert ask(engine, max_hops=4).hops_executed <= 4
    assert ask(engine, max_hops=1).hops_executed == 1
    stubborn = handbook_model(follow_up=QUESTION, answer="No evidence found")
    response = ask(engine_over(atlas, stubborn), max_hops=10)
    assert response.trace["follow_ups"][0]["dropped_queries"][0]["reason"] == "was asked before"


def test_a_question_covered_at_once_takes_one_hop(atlas: Path) -> None:
    response = ask(engine_over(atlas), "Who founded Orrery Press?")
    assert response.hops_executed == 1
    assert "every word" in response.trace["hops"][0]["note"]


def test_a_wider_search_keeps_what_the_hops_found(atlas: Path) -> None:
    response = ask(engine_over(atlas), max_correction_rounds=2, confidence_threshold=1.0)
    assert response.correction_rounds > 0
    assert {"Orrery Press", "Ilse Varga"} <= titles(response)


def test_nothing_found_is_the_refusal(atlas: Path) -> None:
    engine = engine_over(atlas)
    engine.indexer.delete_corpus("atlas", UserContext())
    engine.indexer.index([], "atlas", UserContext())
    response = engine.query(QUESTION, access_reason="t", corpus_ids=["atlas"], config=RAGConfig(strategy="multi_hop"))
    assert response.answer.startswith(f"{INDEX_HAS_NO_ANSWER} ") and is_refusal(response.answer)
    assert (response.status, response.sources) == ("no_evidence", ())
