"""The graph ``step_back`` as its specification says."""

from typing import Any

import pytest

from citeloop import StepBackConfig, build_step_back_graph
from citeloop.errors import SearchFailed
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER
from citeloop.testing import KeyedRetriever, ScriptedChatModel
from tests.multi_query_fakes import QUESTION, calls_of, documents, scripted

GENERAL = "What governs fees?"
FOUND = {QUESTION: documents("S1", "S2"), GENERAL: documents("B1", "B2")}


def run(retriever: KeyedRetriever, model: ScriptedChatModel | None = None, **settings: Any) -> dict[str, Any]:
    model = model or scripted(step_back=GENERAL)
    graph = build_step_back_graph(llm=model, retriever=retriever, config=StepBackConfig(**settings))
    return graph.invoke({"question": QUESTION})["response"]  # type: ignore[no-any-return]


def inside(prompt: str, tag: str) -> str:
    return prompt.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def test_required_the_retriever_is_called_twice_and_each_set_stands_inside_its_own_tags() -> None:
    retriever, model = KeyedRetriever(results=FOUND), scripted(step_back=GENERAL)
    run(retriever, model)
    assert sorted(retriever.queries) == sorted([QUESTION, GENERAL])
    [prompt] = calls_of(model, "answer")
    background, specific = inside(prompt, "background_documents"), inside(prompt, "specific_documents")
    for name in ("B1", "B2"):
        assert f"The fee of {name} is" in background and f"The fee of {name} is" not in specific
    for name in ("S1", "S2"):
        assert f"The fee of {name} is" in specific and f"The fee of {name} is" not in background
    assert inside(prompt, "question") == QUESTION
    assert inside(prompt, "step_back_question") == GENERAL


def test_the_step_back_question_is_traced_and_logged_beside_both_lists(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    trace = run(KeyedRetriever(results=FOUND))["trace"]
    assert trace["step_back_question"] == GENERAL
    assert [(q["origin"], [hit["chunk_id"] for hit in q["ranked"]]) for q in trace["queries"]] == [
        ("question", ["S1", "S2"]),
        ("step_back", ["B1", "B2"]),
    ]
    assert trace["background"] == ["B1", "B2"]
    assert f"steps back to '{GENERAL}'" in caplog.text


def test_both_sets_can_be_cited() -> None:
    model = scripted(step_back=GENERAL, answer="The fee of S1 is 12 euros. [S1] The fee of B1 is 12 euros. [B1]")
    response = run(KeyedRetriever(results=FOUND), model)
    assert [citation["label"] for citation in response["citations"]] == ["S1", "B1"]
    assert response["status"] == "answered"


def test_k_is_a_setting_for_each_set() -> None:
    response = run(KeyedRetriever(results=FOUND), k=1)
    assert [source["chunk_id"] for source in response["sources"]] == ["S1", "B1"]


def test_a_document_of_both_sets_is_specific() -> None:
    model = scripted(step_back=GENERAL)
    run(KeyedRetriever(results={QUESTION: documents("S1"), GENERAL: documents("S1", "B1")}), model)
    [prompt] = calls_of(model, "answer")
    assert prompt.count('id="S1"') == 1
    assert 'id="S1"' in inside(prompt, "specific_documents")


@pytest.mark.parametrize("reply", [TimeoutError(), ValueError("odd"), "", "I cannot.", QUESTION.lower()])
def test_a_step_back_call_that_fails_leaves_the_question_alone(reply: str | Exception) -> None:
    retriever, model = KeyedRetriever(results=FOUND), scripted(step_back=reply)
    response = run(retriever, model)
    assert retriever.queries == [QUESTION]
    assert response["answer"] == "The fee of S1 is 12 euros. [S1]"
    assert inside(calls_of(model, "answer")[0], "background_documents") == ""
    assert response["trace"]["fallback"]


def test_a_failing_retrieval_leaves_the_other() -> None:
    response = run(KeyedRetriever(results={**FOUND, GENERAL: ConnectionError("down")}))
    assert [source["chunk_id"] for source in response["sources"]] == ["S1", "S2"]
    assert response["trace"]["failures"] == [{"query": GENERAL, "error": "ConnectionError: down"}]


def test_both_empty_is_told_without_the_generator() -> None:
    model = scripted(step_back=GENERAL)
    response = run(KeyedRetriever(results={}), model)
    assert (response["answer"], response["status"]) == (INDEX_HAS_NO_ANSWER, "no_evidence")
    assert calls_of(model, "answer") == []


def test_both_failed_is_an_error() -> None:
    with pytest.raises(SearchFailed):
        run(KeyedRetriever(results=dict.fromkeys(FOUND, ConnectionError("down"))))
