"""The value models and run settings: defaults of ADR-031, bounds, and what they print."""

import pytest
from pydantic import ValidationError

from citeloop.state.config import RAGConfig, run_config
from citeloop.state.models import Citation, RAGResponse


def citation(number: int, text: str = "Leave lasts 16 weeks.", confidence: float = 0.9) -> Citation:
    return Citation(
        citation_id=number,
        claim_text="16 weeks.",
        source_chunk_id="c",
        source_text=text,
        confidence=confidence,
        span_in_response=(0, 9),
        document_title="Leave",
        heading_path=("Leave", "Parental leave"),
        uri="leave.md",
    )


def response(*citations: Citation) -> RAGResponse:
    return RAGResponse(answer="16 weeks. [1]", status="answered", confidence=0.9, citations=citations)


def test_the_defaults_are_those_of_the_specification() -> None:
    config = RAGConfig()
    assert (config.default_top_k, config.max_top_k, config.similarity_threshold) == (10, 50, 0.7)
    assert (config.enable_reranking, config.reranker_model) == (True, "cross-encoder/ms-marco-MiniLM-L-12-v2")
    assert (config.require_citations, config.min_citations_per_claim, config.max_context_tokens) == (True, 1, 8000)
    assert (config.enable_self_correction, config.confidence_threshold, config.max_correction_rounds) == (True, 0.8, 2)
    assert (config.audit_all_queries, config.fusion_k, config.strategy) == (True, 60, "auto")


def test_every_setting_is_described() -> None:
    assert all(field.description for field in RAGConfig.model_fields.values())


@pytest.mark.parametrize("bad", [{"top_k": 0}, {"top_k": 201}, {"strategy": "best"}, {"tok_k": 3}, {"fusion_k": 0}])
def test_unknown_and_out_of_bounds_settings_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RAGConfig(**bad)


def test_an_omitted_context_is_the_defaults() -> None:
    assert run_config(None) == RAGConfig()


@pytest.mark.parametrize(
    ("settings", "strategy", "wanted"),
    [
        ({}, "simple", 3),
        ({}, "standard", 10),
        ({"top_k": 7}, "simple", 7),
        ({"top_k": 9, "max_top_k": 4}, "standard", 4),
    ],
)
def test_the_callers_top_k_rules_but_never_over_the_cap(settings: dict, strategy: str, wanted: int) -> None:  # type: ignore[type-arg]
    assert RAGConfig(**settings).passages_wanted(strategy) == wanted


def test_markdown_has_a_footnote_for_each_number_once() -> None:
    long = "word " * 100
    text = response(citation(2, long), citation(1), citation(1, "A later claim of the same source.")).to_markdown()
    answer, notes = text.split("\n\n---\n**Sources:**\n")
    assert answer == "16 weeks. [1]"
    first, second = notes.split("\n")
    assert first == "[1] Leave lasts 16 weeks. (Leave > Parental leave, leave.md)"
    assert second.startswith("[2] " + long[:200] + "...")


def test_an_answer_that_did_not_pass_says_so_in_its_text() -> None:
    weak = response(citation(1)).model_copy(update={"status": "low_confidence", "confidence": 0.41})
    answer, mark, _ = weak.to_markdown().split("\n\n")
    assert (answer, mark) == ("16 weeks. [1]", "**Low confidence (0.41): not every check passed, read the sources.**")


def test_markdown_of_a_refusal_is_the_refusal() -> None:
    refusal = RAGResponse(answer="No evidence found", status="no_evidence", confidence=0.0)
    assert refusal.to_markdown() == "No evidence found"


def test_claims_are_verified_at_the_calibrated_threshold() -> None:
    verified = response(citation(1, confidence=0.7), citation(2, confidence=0.69)).verify_claims()
    assert [(claim.supported, claim.similarity_score) for claim in verified] == [(True, 0.7), (False, 0.69)]
