"""The tables of ``--explain``, for the traces of all graphs."""

from typing import Any

import pytest

from citeloop.commands.explain import print_explanation
from citeloop.state.models import RAGResponse, RetrievalStrategy, SourceReference, SubAnswer

QUESTION = "How much [is] the fee?"


def source(number: int, chunk_id: str, title: str) -> SourceReference:
    place = {"corpus": "c", "document_id": "d", "uri": "fees.md", "start": 0, "end": 9, "score": 0.5}
    return SourceReference(number=number, chunk_id=chunk_id, title=title, **place)  # type: ignore[arg-type]


def told(capsys: pytest.CaptureFixture[str], strategy: str, trace: dict[str, Any], **parts: Any) -> list[str]:
    """The lines, without borders and with single spaces."""
    response = RAGResponse(
        answer="a",
        status="answered",
        confidence=0.9,
        strategy_used=RetrievalStrategy(strategy),
        trace=trace,
        sources=(source(1, "chunk-a", "Fees"), source(2, "chunk-b", "Prices")),
        **parts,
    )
    print_explanation(response)
    out, err = capsys.readouterr()
    assert out == "", "stdout holds the answer alone"
    return [" ".join(line.replace("│", " ").split()) for line in err.splitlines()]


def traced(query: str, origin: str, *ids: str, **more: str) -> dict[str, Any]:
    return {"query": query, "origin": origin, "ranked": [{"chunk_id": name} for name in ids], "error": "", **more}


def test_which_query_pulled_which_document_in(capsys: pytest.CaptureFixture[str]) -> None:
    fused = [
        {
            "chunk_id": "chunk-b",
            "score": 1 / 61 + 1 / 62,
            "contributions": [
                {"query": QUESTION, "rank": 2, "score": 1 / 62},
                {"query": "price", "rank": 1, "score": 1},
            ],
        },
        {"chunk_id": "unshown-chunk", "score": 1 / 61, "contributions": [{"query": QUESTION, "rank": 1, "score": 1}]},
    ]
    trace = {
        "queries": [traced(QUESTION, "question", "unshown-chunk", "chunk-b"), traced("price", "rewrite", "chunk-b")],
        "fused": fused,
        "dropped_queries": [{"query": "the fee?", "reason": "equals the question"}],
        "failures": [{"query": "price", "error": "TimeoutError: slow"}],
    }
    lines = told(capsys, "rag_fusion", trace)
    assert f"q1 {QUESTION} question 2" in lines
    assert "q2 price rewrite 1 TimeoutError: slow" in lines
    assert "1 0.0325 [2] Prices q1 #2, q2 #1" in lines
    assert "2 0.0164 unshown- q1 #1" in lines
    assert "not asked: the fee? (equals the question)" in lines


def test_lists_by_method_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, Any]] = [
        {"round": 0, "query": QUESTION, "method": "dense", "ranked": [{"chunk_id": "chunk-a"}, {"chunk_id": "far"}]},
        {"round": 0, "query": QUESTION, "method": "lexical", "ranked": [{"chunk_id": "far"}]},
        {"round": 1, "query": QUESTION, "method": "lexical", "ranked": [{"chunk_id": "far"}]},
    ]
    ranked = [{"chunk_id": "far", "document_uri": "far.md", "score": 0.8, "corpus": "c"}]
    lines = told(capsys, "standard", {"queries": rows, "ranked_chunks": ranked})
    assert f"q1 {QUESTION} question 2" in lines
    assert "1 0.8000 far.md q1 dense #2, q1 lexical #1" in lines


def test_sub_answers_are_told_found_or_not(capsys: pytest.CaptureFixture[str]) -> None:
    parts = (
        SubAnswer(sub_question="one?", answer="Yes. [1]", found=True),
        SubAnswer(sub_question="two?", answer="not found", found=False),
    )
    trace = {"queries": [traced("one?", "sub_question", "chunk-a"), traced("two?", "sub_question")]}
    lines = told(capsys, "sub_questions", trace, sub_answers=parts)
    assert "q1 one? sub-question 1" in lines
    assert "one? yes Yes. [1]" in lines
    assert "two? no not found" in lines


def test_both_lists_of_step_back_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    trace = {
        "queries": [
            traced(QUESTION, "question", "chunk-a"),
            traced("what are fees?", "step_back", "chunk-b", "chunk-a"),
        ],
        "fallback": "model_timeout: slow",
    }
    lines = told(capsys, "step_back", trace)
    assert "1 [1] Fees [2] Prices" in lines
    assert "2 [1] Fees" in lines
    assert "the question alone, because: model_timeout: slow" in lines


def test_a_trace_without_queries_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Queries" in told(capsys, "simple", {"analysis": None})


def test_relations_are_told_with_where_they_led(capsys: pytest.CaptureFixture[str]) -> None:
    relations = {"Fee [old] -part of-> Prices": ["chunk-b", "unshown-chunk"]}
    lines = told(capsys, "graph", {"queries": [traced(QUESTION, "question", "chunk-a")], "relations": relations})
    assert "Fee [old] -part of-> Prices [2] Prices, unshown-" in lines
