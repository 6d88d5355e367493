"""Citations of one branch under the numbers that all branches share."""

from citeloop.state.graph_state import Passage, Verdict
from citeloop.verification.answer_text.renumbering import renumber
from tests.unit.graph_fakes import passage

ANSWER = "It lasts 16 weeks. [1][2] It is paid. [2]"
SPANS = {"It lasts 16 weeks": (0, 17), "It is paid": (26, 36)}


def verdict(answer: str = ANSWER) -> Verdict:
    citations = [
        {"citation_id": 1, "source_chunk_id": "a", "label": "", "span_in_response": SPANS["It lasts 16 weeks"]},
        {"citation_id": 2, "source_chunk_id": "b", "label": "", "span_in_response": SPANS["It is paid"]},
    ]
    return Verdict(
        answer=answer,
        refused=False,
        citations=citations,
        invalid_chunk_ids=[],
        invalid_share=0.0,
        confidence=0.9,
        passed=True,
        note="",
    )


def passages(*ids: str) -> list[Passage]:
    return [passage(number, chunk_id=name) for number, name in enumerate(ids, start=1)]


def test_numbers_and_spans_move_together() -> None:
    moved = renumber(verdict(), passages("a", "b"), {"a": 12, "b": 1})
    assert moved["answer"] == "It lasts 16 weeks. [12][1] It is paid. [1]"
    assert [citation["citation_id"] for citation in moved["citations"]] == [12, 1]
    for claim, citation in zip(SPANS, moved["citations"], strict=True):
        start, end = citation["span_in_response"]
        assert moved["answer"][start:end] == claim


def test_two_passages_may_change_places() -> None:
    assert (
        renumber(verdict(), passages("a", "b"), {"a": 2, "b": 1})["answer"]
        == "It lasts 16 weeks. [2][1] It is paid. [1]"
    )


def test_code_is_left_alone() -> None:
    assert renumber(verdict("Use `x[1]`. [1]"), passages("a", "b"), {"a": 3, "b": 4})["answer"] == "Use `x[1]`. [3]"


def test_labels_stay() -> None:
    labelled: list[Passage] = [{**one, "label": one["chunk_id"].upper()} for one in passages("a", "b")]
    moved = renumber(verdict("It lasts. [A] See 2. [B]"), labelled, {"a": 7, "b": 8})
    assert moved["answer"] == "It lasts. [A] See 2. [B]"
    assert [citation["citation_id"] for citation in moved["citations"]] == [7, 8]


def test_claims_move_along() -> None:
    claims = [
        {"text": text, "citation_ids": ids, "span_in_response": span}
        for (text, span), ids in zip(SPANS.items(), ([1, 2], [2]), strict=True)
    ]
    moved = renumber(Verdict(**{**verdict(), "claims": claims}), passages("a", "b"), {"a": 12, "b": 1})  # type: ignore[typeddict-item]
    assert [claim["citation_ids"] for claim in moved["claims"]] == [[12, 1], [1]]
    for claim in moved["claims"]:
        start, end = claim["span_in_response"]
        assert moved["answer"][start:end] == claim["text"]
