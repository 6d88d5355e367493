"""Confidence, and the whole check of a draft."""

from collections.abc import Sequence

import numpy as np
import pytest

from citeloop.models.embedder import Vectors
from citeloop.models.evidence import EvidencePassage
from citeloop.prompts.refusals import NO_EVIDENCE
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage, Verdict
from citeloop.verification.confidence import all_supported, claim_support, invalid_share, response_confidence
from citeloop.verification.verifier import Verifier

LEAVE = "Employees receive 25 days of paid leave. Unused leave expires in March."
TRAVEL = "Trips are booked two weeks ahead. Trains are preferred over planes."


def passage(number: int, text: str) -> Passage:
    return Passage(
        number=number,
        chunk_id=f"chunk-{number}",
        corpus="handbook",
        document_id=f"document-{number}",
        title="Handbook",
        uri=f"{number}.md",
        heading_path=["Rules"],
        text=text,
        start=100 * number,
        end=100 * number + len(text),
        score=1.0,
    )


class OrthogonalEmbedder:
    """No two texts have anything in common: only quotes are supported."""

    model_id = "orthogonal"
    dimension = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.eye(len(texts), self.dimension, dtype=np.float32)


class RecordingJudge:
    """Finds every answer relevant to ``relevance``, and remembers what it was shown."""

    def __init__(self, relevance: float = 1.0) -> None:
        self.relevance = relevance
        self.shown: list[EvidencePassage] = []

    def score_sentences(self, question: str, passages: Sequence[EvidencePassage]) -> list[np.ndarray]:
        raise AssertionError("a verdict does not rank sentences")

    def answer_relevance(self, question: str, passages: Sequence[EvidencePassage]) -> float:
        self.shown = list(passages)
        return self.relevance


def verify(draft: str, judge: RecordingJudge | None = None, **settings: object) -> Verdict:
    verifier = Verifier(OrthogonalEmbedder(), judge or RecordingJudge())
    passages = [passage(1, LEAVE), passage(2, TRAVEL)]
    return verifier.verify("How much leave is there?", draft, passages, RAGConfig.model_validate(settings))


def test_confidence_is_the_chance_that_all_of_it_holds() -> None:
    assert response_confidence([0.8], 0.5) == pytest.approx(0.4)
    assert response_confidence([], 0.5) == 0
    assert 0.9 * 0.8 < all_supported([0.9, 0.8]) < 0.8
    assert response_confidence([0.9, 0.0], 1.0) == 0


def test_a_claim_needs_its_citations() -> None:
    assert claim_support(0.9, [], 1) == 0
    assert claim_support(0.9, [0.8], 1) == 0.9
    assert claim_support(0.9, [0.8], 2) == 0
    assert claim_support(0.9, [0.3, 0.8, 0.6], 2) == 0.6
    assert claim_support(0.9, [], 0) == 0.9


def test_unknown_citations_are_invalid_ones() -> None:
    assert invalid_share([0.9, 0.69, 0.7], 1, 0.7) == 0.5
    assert invalid_share([], 2, 0.7) == 1
    assert invalid_share([], 0, 0.7) == 0


def test_a_quoted_answer_passes_with_its_place_in_the_document() -> None:
    verdict = verify("Employees receive 25 days of paid leave. [1]")
    assert verdict["passed"]
    assert verdict["confidence"] == pytest.approx(0.99)
    (citation,) = verdict["citations"]
    assert citation["source_text"] == "Employees receive 25 days of paid leave"
    assert (citation["source_start"], citation["source_end"]) == (100, 139)
    assert citation["span_in_response"] == [0, 40]
    assert (citation["citation_id"], citation["source_chunk_id"]) == (1, "chunk-1")


def test_a_wrong_source_is_invalid_and_told() -> None:
    verdict = verify("Employees receive 25 days of paid leave [2]. Unused leave expires in March [1].")
    assert verdict["invalid_chunk_ids"] == ["chunk-2"]
    assert verdict["invalid_share"] == 0.5
    assert not verdict["passed"]
    assert "50% of the citations are invalid" in verdict["note"]


def test_a_source_that_is_right_once_is_not_dropped() -> None:
    verdict = verify("Employees receive 25 days of paid leave [1]. Dogs are welcome in every office [1].")
    assert verdict["invalid_chunk_ids"] == []
    assert verdict["invalid_share"] == 0.5


def test_a_citation_that_leads_nowhere_is_taken_out_and_counted() -> None:
    verdict = verify("Employees receive 25 days of paid leave [1][9].")
    assert verdict["answer"] == "Employees receive 25 days of paid leave [1]."
    assert verdict["invalid_share"] == 0.5


def test_an_uncited_claim_counts_only_where_citations_are_not_required() -> None:
    draft = "Employees receive 25 days of paid leave [1]. Trains are preferred over planes."
    assert verify(draft)["confidence"] == 0
    assert "1 of 2 claims cite nothing" in verify(draft)["note"]
    assert verify(draft, require_citations=False)["passed"]


def test_two_citations_can_be_demanded() -> None:
    assert verify("Trains are preferred over planes [2].", min_citations_per_claim=2)["confidence"] == 0


def test_each_source_answers_for_its_part_of_the_sentence() -> None:
    verdict = verify("Employees receive 25 days of paid leave [1], and trains are preferred over planes [2].")
    assert verdict["citations"][0]["confidence"] == pytest.approx(0.99)


@pytest.mark.parametrize("draft", [NO_EVIDENCE, f"{NO_EVIDENCE}.", "The documents do not mention parental leave."])
def test_a_refusal_is_a_class_of_its_own(draft: str) -> None:
    verdict = verify(draft)
    assert (verdict["refused"], verdict["passed"], verdict["citations"]) == (True, False, [])


def test_an_answer_without_a_claim_does_not_pass() -> None:
    verdict = verify("```\nmake demo\n```")
    assert (verdict["refused"], verdict["passed"]) == (False, False)
    assert "makes no claim" in verdict["note"]


def test_the_judge_sees_what_the_answer_says_and_decides_with() -> None:
    judge = RecordingJudge(0.5)
    verdict = verify("Trains are preferred over planes [2]. Unused leave expires in March [1].", judge)
    assert [shown.sentences for shown in judge.shown] == [
        ("Unused leave expires in March.",),
        ("Trains are preferred over planes.",),
    ]
    assert judge.shown[0].context == "Handbook\nRules"
    assert verdict["confidence"] == pytest.approx(0.99**1.5 * 0.5)
    assert not verdict["passed"]


@pytest.mark.parametrize("draft", ["No evidence found. [1]", "No evidence found [1][2].", "No evidence found [D7]."])
def test_a_refusal_cites_nothing(draft: str) -> None:
    verdict = verify(draft)
    assert (verdict["refused"], verdict["answer"], verdict["citations"]) == (True, "No evidence found.", [])
