"""Questions as LangSmith tests, as an application might have them: tracked where it says so, plain tests elsewhere.

In a suite of your own, leave out ``tracking_off`` and set ``LANGSMITH_API_KEY``: each run of it becomes an experiment
on a data set named after the module, with what is logged here as inputs, outputs and scores.
"""

from collections.abc import Iterator

import pytest
from langsmith import testing, utils

from citeloop.engine import RAGQueryEngine


@pytest.fixture(autouse=True)
def tracking_off(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """``LANGSMITH_TEST_TRACKING=false``; langsmith remembers variables that it has read."""
    monkeypatch.setenv("LANGSMITH_TEST_TRACKING", "false")
    utils.get_env_var.cache_clear()
    yield
    utils.get_env_var.cache_clear()


@pytest.mark.langsmith
@pytest.mark.parametrize(
    ("question", "expected", "page"),
    [
        ("How long is parental leave?", "16 weeks", "leave.md"),
        ("How much is paid back for meals a day?", "45 euros", "travel.md"),
    ],
)
def test_the_handbook_is_answered(engine: RAGQueryEngine, question: str, expected: str, page: str) -> None:
    testing.log_inputs({"question": question})
    testing.log_reference_outputs({"answer": expected, "page": page})
    response = engine.query(question, access_reason="evaluation", corpus_ids=["handbook"])
    testing.log_outputs({"answer": response.answer, "status": response.status})

    pages = {citation.uri for citation in response.citations}
    testing.log_feedback(key="correct", score=expected in response.answer)
    testing.log_feedback(key="cites_the_page", score=page in pages)
    testing.log_feedback(key="confidence", score=response.confidence)
    assert expected in response.answer
    assert page in pages
    assert response.status == "answered"
