"""The three multi-query patterns as strategies of the query graph: search, draft, correction, one way for all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, is_refusal
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse, UserContext
from citeloop.testing import ScriptedChatModel
from citeloop.testing.scripted_chat_model import Reply
from tests.handbook import engine_over
from tests.strategy_fakes import BOTH, HOTELS, QUESTION, calls_of, handbook_model, inside, quote_facts


def ask(engine: RAGQueryEngine, strategy: str, question: str = QUESTION, **settings: Any) -> RAGResponse:
    return engine.query(question, access_reason="t", config=RAGConfig(strategy=strategy, **settings))  # type: ignore[arg-type]


def told(stores: Path, **replies: Reply | Callable[[str], Reply]) -> tuple[RAGQueryEngine, ScriptedChatModel]:
    model = handbook_model(**replies)
    return engine_over(stores, model), model


@pytest.mark.parametrize("strategy", ["rag_fusion", "step_back", "sub_questions"])
def test_they_answer_without_a_chat_model(engine: RAGQueryEngine, strategy: str) -> None:
    response = ask(engine, strategy)
    assert (response.strategy_used, response.status) == (strategy, "answered")
    assert "16 weeks" in response.answer
    assert "140 euros" in response.answer
    numbers = {source.chunk_id: source.number for source in response.sources}
    assert all(numbers[citation.source_chunk_id] == citation.citation_id for citation in response.citations)
    assert all(citation.label == "" for citation in response.citations)
    assert "is not built yet" not in response.trace["analysis"]["reason"]


def test_rag_fusion_searches_every_query_and_tells_which_pulled_a_document_in(stores: Path) -> None:
    engine, model = told(stores, query_rewriter="1. hotel price limit\n2. badge of visitors")
    response = ask(engine, "rag_fusion", HOTELS, rewrites=2)
    queries = {(query["query"], query["origin"]) for query in response.trace["queries"]}
    assert queries == {(HOTELS, "question"), ("hotel price limit", "rewrite"), ("badge of visitors", "rewrite")}
    fused = response.trace["fused"]
    assert [part["query"] for part in fused[0]["contributions"]] == [HOTELS, "hotel price limit", "badge of visitors"]
    assert [hit["score"] for hit in fused] == sorted((hit["score"] for hit in fused), reverse=True)
    for hit in fused:
        assert hit["score"] == pytest.approx(sum(1 / (60 + part["rank"]) for part in hit["contributions"]))
    [prompt] = calls_of(model, "answer")
    assert inside(prompt, "question") == HOTELS
    assert '<document id="1"' in prompt


def test_without_reranking_the_fused_rank_decides(stores: Path) -> None:
    engine, _ = told(stores, query_rewriter="badge of visitors\nvisitors wear badges\nyellow badge")
    response = ask(engine, "rag_fusion", HOTELS, enable_reranking=False)
    assert [source.chunk_id for source in response.sources] == [hit["chunk_id"] for hit in response.trace["fused"]]
    assert response.trace["ranked_by"] == "fused rank"


def test_step_back_keeps_the_specific_passages_first_and_labels_background_apart(stores: Path) -> None:
    engine, model = told(stores, step_back="What are visitors told about badges?")
    response = ask(engine, "step_back", HOTELS, default_top_k=1, background_top_k=1, max_correction_rounds=0)
    assert [(source.origin, source.title) for source in response.sources] == [
        ("question", "Travel"),
        ("step_back", "Visitors"),
    ]
    [prompt] = calls_of(model, "answer")
    assert "yellow badge" in inside(prompt, "background_documents")
    assert "140 euros" in inside(prompt, "specific_documents")
    assert "140 euros" not in inside(prompt, "background_documents")
    assert inside(prompt, "step_back_question") == "What are visitors told about badges?"
    assert {query["origin"] for query in response.trace["queries"]} == {"question", "step_back"}
    assert response.trace["step_back_question"] == "What are visitors told about badges?"


def test_background_makes_way_where_room_is_short(stores: Path) -> None:
    engine, _ = told(stores, step_back="What are visitors told about badges?")
    both = ask(engine, "step_back", HOTELS, top_k=1)
    assert [source.origin for source in both.sources] == ["question", "step_back"]
    short = ask(engine, "step_back", f"{HOTELS} {'Please tell. ' * 118}", top_k=1, max_context_tokens=1000)
    assert [source.origin for source in short.sources] == ["question"]


@pytest.mark.parametrize(
    ("strategy", "prompt"),
    [("rag_fusion", "query_rewriter"), ("step_back", "step_back"), ("sub_questions", "decomposer")],
)
@pytest.mark.parametrize("reply", ["I cannot help with that.", "", TimeoutError()], ids=["refusal", "empty", "failure"])
def test_without_queries_of_the_model_the_question_is_searched_alone(
    stores: Path, strategy: str, prompt: str, reply: Reply
) -> None:
    engine, _ = told(stores, **{prompt: reply})
    response = ask(engine, strategy, HOTELS)
    assert "140 euros" in response.answer
    assert {(query["query"], query["origin"]) for query in response.trace["queries"]} == {(HOTELS, "question")}
    assert response.trace["fallback"]
    assert response.sub_answers == ()


def test_a_slow_rewriter_falls_back(stores: Path) -> None:
    model = handbook_model(delay_s=0.5, query_rewriter="hotel limit")
    response = ask(engine_over(stores, model), "rag_fusion", HOTELS, model_timeout_s=0.05, max_correction_rounds=0)
    assert "140 euros" in response.answer
    assert response.trace["fallback"].startswith("model_timeout")


@pytest.mark.parametrize("strategy", ["rag_fusion", "step_back"])
def test_a_failing_draft_is_corrected(stores: Path, strategy: str) -> None:
    drafts = iter([lambda prompt: "Hotels are free for unicorns.", quote_facts])
    engine, _ = told(
        stores, query_rewriter="hotel limit", step_back="What is travel?", answer=lambda prompt: next(drafts)(prompt)
    )
    response = ask(engine, strategy, HOTELS, top_k=1, confidence_threshold=0.5)
    assert response.correction_rounds == 1
    assert [told["next"] for told in response.trace["rounds"]] == ["neighbours", "none"]
    assert response.answer == "The limit is 140 euros a night. [1]"


def test_nothing_found_is_the_refusal_without_the_generator(stores: Path) -> None:
    engine, model = told(stores, query_rewriter="hotels\nhotel limit", step_back="What are hotels?", decomposer=BOTH)
    for name in ("handbook", "legal"):
        engine.indexer.delete_corpus(name, UserContext())
    for strategy in ("rag_fusion", "step_back", "sub_questions"):
        response = ask(engine, strategy)
        assert response.answer.startswith(f"{INDEX_HAS_NO_ANSWER} ") and is_refusal(response.answer)
        assert (response.status, response.sources) == ("no_evidence", ())
    assert calls_of(model, "answer") == calls_of(model, "sub_answer") == calls_of(model, "combiner") == []
