"""What is told of each claim: its verdict, its place, and why."""

from collections.abc import Sequence
from typing import Any

import pytest

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage
from citeloop.state.models import AnswerClaim
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.answer_text.claims import split_claims
from citeloop.verification.claim_check import check_claims, known_labels
from citeloop.verification.claim_verdicts import claims_by_sentence
from citeloop.verification.evidence.support import ClaimEvidence, Support
from tests.unit.graph_fakes import passage

PASSAGES = [passage(1, "alpha"), passage(2, "beta"), passage(3, "gamma")]


class TableScorer:
    """Scores by table: claim text and the texts of the passages it is compared with; 0 for what is not in it."""

    def __init__(self, table: dict[tuple[str, ...], Support | float]) -> None:
        self.table = table

    def score_batch(self, pairs: Sequence[ClaimEvidence]) -> list[Support]:
        found = [self.table.get((pair.claim, *pair.passages), 0.0) for pair in pairs]
        return [one if isinstance(one, Support) else Support(one, 0, method="model") for one in found]


def told(
    answer: str, table: dict[tuple[str, ...], Any], passages: Sequence[Passage] = PASSAGES, **settings: Any
) -> list[AnswerClaim]:
    config = RAGConfig(**settings)
    parsed = parse_citations(answer, known_labels(passages))
    sentences = split_claims(parsed)
    checked = check_claims(
        [sentence for sentence in sentences if sentence.is_claim],
        passages,
        TableScorer(table),
        threshold=config.similarity_threshold,
        require_citations=config.require_citations,
    )
    claims = [claim for rows in claims_by_sentence(sentences, checked, config) for claim in rows]
    for claim in claims:
        start, end = claim.span_in_response
        assert parsed.text[start:end].startswith(claim.text.split(" [")[0].rstrip(".")[:10])
    return claims


LEAVE = "Leave lasts 16 weeks."


@pytest.mark.parametrize(
    ("support", "verdict"),
    [
        (0.9, "supported"),
        (0.7, "supported"),
        (0.5, "partly"),
        (0.1, "unsupported"),
        (Support(0.6, conflict="16 weeks, not 18"), "contradicted"),
        (Support(0.8, conflict="16 weeks, not 18"), "supported"),
    ],
)
def test_a_verdict_follows_the_support(support: Support | float, verdict: str) -> None:
    (claim,) = told(f"{LEAVE} [1]", {(LEAVE, "alpha"): support})
    assert claim.verdict == verdict
    assert claim.citation_ids == (1,)
    assert claim.support == (support.score if isinstance(support, Support) else support)
    assert claim.reason.strip()


def test_the_reason_names_the_source_what_is_missing_and_what_it_says_instead() -> None:
    (missing,) = told(f"{LEAVE} [2]", {(LEAVE, "beta"): Support(0.1, missing=("16",))})
    assert missing.missing == ("16",)
    assert "[2]" in missing.reason and "16" in missing.reason
    (contradicted,) = told(f"{LEAVE} [1]", {(LEAVE, "alpha"): Support(0.2, conflict="it says 12 weeks")})
    assert "it says 12 weeks" in contradicted.reason
    (quoted,) = told(f"{LEAVE} [1]", {(LEAVE, "alpha"): Support(0.99, 0, method="quote")})
    assert "word for word" in quoted.reason
    labelled = [Passage(**{**PASSAGES[0], "label": "D7"})]
    assert "[D7]" in told(f"{LEAVE} [D7]", {}, labelled)[0].reason


def test_every_sentence_is_told_and_those_that_claim_nothing_are_told_apart() -> None:
    claims = told(f"## Leave\n\nHere is a summary:\n\n- {LEAVE} [1]\n- It is paid.\n\nAnything else?", {})
    assert [claim.verdict for claim in claims] == [
        "not_a_claim",
        "not_a_claim",
        "unsupported",
        "unsupported",
        "not_a_claim",
    ]
    assert "cites none" in claims[3].reason
    assert [claim.support for claim in claims if claim.verdict == "not_a_claim"] == [0, 0, 0]


CLAUSES = "Leave lasts 16 weeks in all [1], and it is paid in full [2]."
FIRST, SECOND = "Leave lasts 16 weeks in all", "and it is paid in full."
WHOLE = "Leave lasts 16 weeks in all, and it is paid in full."


def test_clauses_with_citations_of_their_own_have_verdicts_of_their_own() -> None:
    first, second = told(CLAUSES, {(FIRST, "alpha"): 0.9, (SECOND, "beta"): 0.2})
    assert (first.verdict, second.verdict) == ("supported", "unsupported")
    assert (first.citation_ids, second.citation_ids) == ((1,), (2,))
    assert CLAUSES[slice(*first.span_in_response)] == FIRST
    assert CLAUSES[slice(*second.span_in_response)] == "and it is paid in full [2]."


def test_clauses_that_only_together_say_enough_are_supported_unless_a_source_says_otherwise() -> None:
    together: dict[tuple[str, ...], Any] = {(WHOLE, "alpha", "beta"): 0.9, (FIRST, "alpha"): 0.6}
    assert [claim.verdict for claim in told(CLAUSES, together)] == ["supported", "supported"]
    swapped = {**together, (FIRST, "alpha"): Support(0.6, missing=("16",))}
    assert [claim.verdict for claim in told(CLAUSES, swapped)] == ["partly", "unsupported"]


def test_a_source_that_says_it_all_is_not_weakened_by_another_beside_it() -> None:
    (claim,) = told(f"{LEAVE} [1][2]", {(LEAVE, "alpha"): 0.9, (LEAVE, "alpha", "beta"): 0.6})
    assert (claim.verdict, claim.support) == ("supported", 0.9)


def test_a_claim_with_fewer_valid_citations_than_it_needs_is_not_supported() -> None:
    table = {(LEAVE, "alpha"): 0.9, (LEAVE, "beta"): 0.2, (LEAVE, "alpha", "beta"): 0.9}
    (claim,) = told(f"{LEAVE} [1][2]", table, min_citations_per_claim=2)
    assert claim.verdict == "partly"
    assert "1 of the 2 citations" in claim.reason
    (claim,) = told(f"{LEAVE} [1][2]", {**table, (LEAVE, "beta"): 0.8}, min_citations_per_claim=2)
    assert claim.verdict == "supported"


def test_where_citations_are_not_required_the_passages_decide() -> None:
    table = {(LEAVE, "alpha", "beta", "gamma"): 0.9}
    (claim,) = told(LEAVE, table, require_citations=False)
    assert (claim.verdict, claim.citation_ids) == ("supported", ())
    assert told(LEAVE, table)[0].verdict == "unsupported"
    (claim,) = told(LEAVE, {}, require_citations=False)
    assert claim.verdict == "unsupported" and claim.reason
