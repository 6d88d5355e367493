"""Refusals over the whole graph: what they tell, on every face, and of nothing that the caller may not see."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citeloop.engine import RAGQueryEngine
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, NO_EVIDENCE, is_refusal
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse, UserContext
from citeloop.testing import ScriptedChatModel
from tests.command_line import citeloop
from tests.handbook import HANDBOOK, LEGAL, audit_events, engine_over, guard
from tests.strategy_fakes import handbook_model

NEAR_MISS = "How long was parental leave at Globex in 1987?"
DIRECTORS = "How many directors of Initech sign contracts?"


def refusing_engine(stores: Path, **options: Any) -> RAGQueryEngine:
    return engine_over(stores, ScriptedChatModel(replies=lambda _: NO_EVIDENCE), **options)


def ask(engine: RAGQueryEngine, question: str = NEAR_MISS, **options: Any) -> RAGResponse:
    settings = options.pop("settings", {"strategy": "standard", "max_correction_rounds": 0})
    return engine.query(question, access_reason="t", config=RAGConfig(**settings), **options)


def is_told(response: RAGResponse) -> bool:
    """Whether it is a refusal with its reason, and nothing besides."""
    assert (response.status, response.confidence) == ("no_evidence", 0.0)
    assert (response.sources, response.citations, response.claims) == ((), (), ())
    note = response.trace["refusal"]["note"]
    return is_refusal(response.answer) and response.answer.endswith(note) and bool(note)


def test_a_near_miss_tells_what_was_searched_and_what_is_missing(stores: Path) -> None:
    engine = refusing_engine(stores)
    response = ask(engine, corpus_ids=["handbook"])
    assert is_told(response)
    refusal = response.trace["refusal"]
    assert (refusal["corpora"], refusal["missing"], refusal["chosen"]) == (["handbook"], ["Globex", "1987"], True)
    assert refusal["passages"] > 0
    assert f"{refusal['passages']} passages in “handbook”." in response.answer
    assert "Not mentioned in any of them: “Globex”, “1987”." in response.answer
    assert "leave the choice of collections out" in response.answer
    assert audit_events(engine) == [("asked", ""), ("ended", "no_evidence")]


def test_the_quoting_model_refuses_in_the_same_words(stores: Path) -> None:
    response = ask(engine_over(stores), "Which quantum annealer did Globex purchase?")
    assert is_told(response)
    assert response.answer.startswith(f"{NO_EVIDENCE}. Looked at, without finding an answer: ")
    assert "“Globex”" in response.answer


@pytest.mark.parametrize(
    "question", ["Wie lange dauerte 1987 der Urlaub bei Globex?", "Globex公司1987年的育儿假有多长？"]
)
def test_names_and_years_are_told_in_other_languages_too(stores: Path, question: str) -> None:
    response = ask(refusing_engine(stores), question)
    assert is_told(response)
    assert {"Globex", "1987"} <= set(response.trace["refusal"]["missing"])


def test_nothing_of_what_the_caller_may_not_read_is_told(stores: Path) -> None:
    engine = guard(refusing_engine(stores))
    bob, ana = (ask(engine, DIRECTORS, user_context=UserContext(user_id=name)) for name in ("bob", "ana"))
    assert is_told(bob) and is_told(ana)
    assert bob.trace["refusal"]["corpora"] == ["handbook"]
    assert "legal" not in bob.model_dump_json()
    assert set(ana.trace["refusal"]["corpora"]) == {"handbook", "legal"}
    assert "directors" in bob.trace["refusal"]["missing"] or bob.trace["refusal"]["missing"] == ["Initech"]


def test_what_is_missing_does_not_depend_on_what_the_caller_may_not_read(stores: Path) -> None:
    """Ana's passages hold "directors" and "contracts"; Bob's do not, and say so whatever the other corpus holds."""
    engine = guard(refusing_engine(stores))
    asked = "how many directors sign contracts"
    bob, ana = (ask(engine, asked, user_context=UserContext(user_id=name)) for name in ("bob", "ana"))
    assert bob.trace["refusal"]["missing"] == ["directors sign contracts"]
    assert ana.trace["refusal"]["missing"] == []


@pytest.mark.parametrize(
    "strategy", ["simple", "standard", "multi_hop", "graph", "exhaustive", "rag_fusion", "step_back"]
)
def test_no_word_of_a_document_is_told(stores: Path, strategy: str) -> None:
    engine = refusing_engine(stores)
    response = ask(engine, "xylophone zither", settings={"strategy": strategy, "max_correction_rounds": 1})
    assert is_told(response)
    told = response.answer.lower()
    own = "passages found looked answer without language documents document words would could your any".split()
    words = {word.strip("#.,") for text in (*HANDBOOK.values(), *LEGAL.values()) for word in text.lower().split()}
    secrets = {word for word in words if len(word) > 5} - set(own) - {"handbook"}
    assert [word for word in secrets if word in told] == []


def test_parts_that_were_not_found_are_told_and_the_whole_is_a_refusal(stores: Path) -> None:
    model = handbook_model(
        decomposer="1. How long was leave at Globex?\n2. What did Initech pay?",
        sub_answer="not found",
        combiner=NO_EVIDENCE,
    )
    response = ask(
        engine_over(stores, model),
        "How long was leave at Globex, and what did Initech pay?",
        settings={"strategy": "sub_questions", "max_correction_rounds": 0},
    )
    assert is_told(response)
    assert response.answer.startswith(INDEX_HAS_NO_ANSWER)
    assert "under “How long was leave at Globex?”, “What did Initech pay?”." in response.answer
    assert response.trace["refusal"]["missing"] == ["Globex", "Initech"]
    assert [part.answer for part in response.sub_answers] == ["not found", "not found"]


def test_a_part_that_was_not_found_beside_one_that_was_is_no_refusal(stores: Path) -> None:
    response = ask(
        engine_over(stores),
        "How long is parental leave, and which quantum annealer did Globex purchase?",
        settings={"strategy": "sub_questions", "max_correction_rounds": 0},
    )
    assert response.status != "no_evidence" and "refusal" not in response.trace
    assert "16 weeks" in response.answer


def test_markdown_and_page_show_the_reason_and_no_sources(stores: Path) -> None:
    response = ask(refusing_engine(stores), "How long is leave at <b>Globex</b> & Co in 1987?")
    assert is_told(response)
    assert response.to_markdown() == response.answer
    page = response.to_html()
    assert "No evidence" in page and "1987" in page
    assert "<b>Globex" not in page
    assert 'class="sources"' not in page and 'id="evidence-' not in page


def test_the_next_question_of_a_thread_tells_its_own_search(stores: Path) -> None:
    engine = refusing_engine(stores, checkpointer=InMemorySaver())
    first = ask(engine, corpus_ids=["legal"], thread_id="t")
    second = ask(engine, "How long was the sabbatical at Initech?", corpus_ids=["handbook"], thread_id="t")
    assert (first.trace["refusal"]["corpora"], second.trace["refusal"]["corpora"]) == (["legal"], ["handbook"])
    assert second.trace["refusal"]["missing"] == ["Initech"]
    assert "Globex" not in second.answer


def test_the_command_line_prints_it(stores: Path) -> None:
    printed = citeloop(stores, "ask", "Which quantum annealer did Globex purchase?", "--corpus", "handbook")
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.startswith(f"{NO_EVIDENCE}. Looked at, without finding an answer: ")
    assert "in “handbook”." in printed.stdout and "Sources" not in printed.stdout
    assert "no evidence, confidence 0.00" in printed.stderr
