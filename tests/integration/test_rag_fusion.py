"""The graph ``rag_fusion`` as its specification says."""

import logging
from typing import Any

import pytest

from citeloop import RagFusionConfig, build_rag_fusion_graph
from citeloop.errors import InvalidRequest, ModelError, SearchFailed
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER
from citeloop.testing import KeyedRetriever, ScriptedChatModel
from tests.multi_query_fakes import QUESTION, calls_of, documents, scripted

REWRITES = "fee amount\nprice list\ncharges"
LISTS = {
    "fee amount": documents("D1", "D7"),
    "price list": documents("D7", "D2"),
    "charges": documents("D3", "D4", "D7"),
    QUESTION: [],
}


def run(
    retriever: KeyedRetriever, model: ScriptedChatModel | None = None, question: str = QUESTION, **settings: Any
) -> dict[str, Any]:
    model = model or scripted(query_rewriter=REWRITES)
    graph = build_rag_fusion_graph(llm=model, retriever=retriever, config=RagFusionConfig(**settings))
    return graph.invoke({"question": question})["response"]  # type: ignore[no-any-return]


def test_required_d7_stands_first_with_the_exact_score() -> None:
    retriever = KeyedRetriever(results=LISTS)
    response = run(retriever)
    assert len(retriever.queries) == 4
    assert set(retriever.queries) == {QUESTION, "fee amount", "price list", "charges"}
    first = response["trace"]["fused"][0]
    assert (first["chunk_id"], first["score"]) == ("D7", 1 / 62 + 1 / 61 + 1 / 63)
    assert response["sources"][0]["chunk_id"] == "D7"


def test_the_generator_sees_the_original_question_and_the_fused_documents() -> None:
    model = scripted(query_rewriter=REWRITES)
    response = run(KeyedRetriever(results=LISTS), model, k=2)
    [prompt] = calls_of(model, "answer")
    assert f"<question>{QUESTION}</question>" in prompt
    assert not any(rewrite in prompt for rewrite in REWRITES.splitlines())
    assert prompt.index('id="D7"') < prompt.index('id="D1"')
    assert prompt.count("<document ") == 2
    assert response["answer"] == "The fee of D7 is 12 euros. [D7]"
    assert len(model.calls) == 2, "one rewriting, one generation"


def test_citations_lead_to_the_documents() -> None:
    response = run(KeyedRetriever(results=LISTS))
    [citation] = response["citations"]
    assert (citation["source_chunk_id"], citation["label"], citation["citation_id"]) == ("D7", "D7", 1)
    assert citation["source_text"] == "The fee of D7 is 12 euros"
    assert response["status"] == "answered"


def test_a_citation_of_a_document_that_was_not_given_is_taken_out() -> None:
    model = scripted(query_rewriter=REWRITES, answer="The fee of D7 is 12 euros. [D99]")
    response = run(KeyedRetriever(results=LISTS), model)
    assert (response["answer"], response["citations"]) == ("The fee of D7 is 12 euros.", [])
    assert response["status"] == "low_confidence"


def test_every_query_is_traced_and_logged_with_its_ranked_ids(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        response = run(KeyedRetriever(results=LISTS))
    ranked = {q["query"]: [hit["chunk_id"] for hit in q["ranked"]] for q in response["trace"]["queries"]}
    assert ranked == {
        QUESTION: [],
        "fee amount": ["D1", "D7"],
        "price list": ["D7", "D2"],
        "charges": ["D3", "D4", "D7"],
    }
    assert "rewrite 'charges' ranked ['D3', 'D4', 'D7']" in caplog.text
    assert f"('D7', {1 / 62 + 1 / 61 + 1 / 63})" in caplog.text


def test_the_trace_tells_which_query_pulled_a_document_in() -> None:
    fused = {document["chunk_id"]: document for document in run(KeyedRetriever(results=LISTS))["trace"]["fused"]}
    assert fused["D2"]["contributions"] == [{"query": "price list", "rank": 2, "score": 1 / 62}]
    assert [part["query"] for part in fused["D7"]["contributions"]] == ["fee amount", "price list", "charges"]


def test_depth_k_constant_and_number_of_rewrites_are_settings() -> None:
    retriever = KeyedRetriever(results=LISTS)
    model = scripted(query_rewriter=REWRITES)
    response = run(retriever, model, rewrites=2, depth=1, k=1, rrf_k=0)
    assert "Write 2 different search queries" in calls_of(model, "query_rewriter")[0]
    assert sorted(retriever.queries) == sorted([QUESTION, "fee amount", "price list"])
    assert [(d["chunk_id"], d["score"]) for d in response["trace"]["fused"]] == [("D1", 1.0), ("D7", 1.0)]
    assert len(response["sources"]) == 1


def test_rewrites_equal_to_the_question_are_not_searched_twice() -> None:
    retriever = KeyedRetriever(results={QUESTION: documents("D7")})
    response = run(retriever, scripted(query_rewriter=f"{QUESTION.upper()}\n{QUESTION}\nfee amount\nFee  amount"))
    assert sorted(retriever.queries) == sorted([QUESTION, "fee amount"])
    assert [dropped["reason"] for dropped in response["trace"]["dropped_queries"]] == [
        "equals the question",
        "equals the question",
        "equals an earlier one",
    ]


@pytest.mark.parametrize("reply", ["I'm sorry, I can't.", "[]", "x" * 10_000, TimeoutError(), ValueError("odd")])
def test_an_unreadable_rewriter_leaves_the_question_alone(reply: str | Exception) -> None:
    retriever = KeyedRetriever(results={QUESTION: documents("D7")})
    response = run(retriever, scripted(query_rewriter=reply))
    assert retriever.queries == [QUESTION]
    assert response["answer"] == "The fee of D7 is 12 euros. [D7]"
    assert response["trace"]["fallback"]


def test_nothing_retrieved_is_told_without_the_generator() -> None:
    model = scripted(query_rewriter=REWRITES)
    response = run(KeyedRetriever(results={}), model)
    assert (response["answer"], response["status"], response["sources"]) == (INDEX_HAS_NO_ANSWER, "no_evidence", [])
    assert calls_of(model, "answer") == []


def test_a_failed_query_drops_out_of_the_fusion(caplog: pytest.LogCaptureFixture) -> None:
    response = run(KeyedRetriever(results={**LISTS, "charges": ConnectionError("index is down")}))
    assert response["trace"]["fused"][0]["score"] == 1 / 62 + 1 / 61
    assert response["trace"]["failures"] == [{"query": "charges", "error": "ConnectionError: index is down"}]
    assert "query 'charges' dropped out" in caplog.text


def test_when_every_query_failed_the_index_is_not_said_to_have_no_answer() -> None:
    failing = {query: ConnectionError("index is down") for query in LISTS}
    with pytest.raises(SearchFailed, match="index is down"):
        run(KeyedRetriever(results=failing))


def test_a_failing_generator_is_an_error() -> None:
    with pytest.raises(ModelError):
        run(KeyedRetriever(results=LISTS), scripted(query_rewriter=REWRITES, answer=TimeoutError()))


def test_an_empty_question_is_an_error() -> None:
    with pytest.raises(InvalidRequest, match="empty"):
        run(KeyedRetriever(results={}), question="  ")


def test_the_best_document_is_cut_where_it_does_not_fit_and_leaves_room_for_others() -> None:
    long = documents("D1")[0].model_copy(update={"page_content": "The fee is 12 euros. " * 2_000})
    model = scripted(query_rewriter=REWRITES)
    run(KeyedRetriever(results={QUESTION: [long]}), model, max_context_tokens=1_000, max_answer_tokens=16)
    assert 500 < len(calls_of(model, "answer")[0]) < 6_000
    both = scripted(query_rewriter=REWRITES)
    run(KeyedRetriever(results={QUESTION: [long, *documents("D7")]}), both, max_context_tokens=1_000)
    prompt = calls_of(both, "answer")[0]
    assert 'id="D1"' in prompt
    assert 'id="D7"' in prompt
