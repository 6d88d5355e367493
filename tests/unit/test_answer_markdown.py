"""An answer as Markdown: what a reader is warned of, in words."""

from tests.answers import LEAVE, Said, response_of


def test_each_claim_that_did_not_pass_is_told_with_its_reason() -> None:
    warning = response_of().to_markdown().split("\n\n")[1]
    assert warning.splitlines() == [
        "**Claims that did not pass:**",
        '- "It is asked for by letter.": The source names no letter.',
        '- "Hotels cost at most 150 euros.": What it cites says otherwise. Not in its sources: 150.',
        '- "Everyone likes it.": It cites no source.',
    ]


def test_an_answer_whose_claims_all_passed_carries_no_warning() -> None:
    assert response_of(LEAVE[:1]).to_markdown() == (
        "Parental leave lasts 16 weeks. [1]\n\n---\n**Sources:**\n"
        "[1] Parental leave lasts 16 weeks at full pay. (Handbook 1 > People > Leave, https://handbook.example/1)"
    )


def test_what_asserts_nothing_is_no_failure() -> None:
    said = (Said("Here is the answer:", "not_a_claim"), *LEAVE[:1])
    assert "did not pass" not in response_of(said).to_markdown()


def test_a_response_without_claims_is_judged_by_its_citations() -> None:
    kept = response_of(LEAVE[:3]).model_copy(update={"claims": ()})
    told = kept.to_markdown()
    assert '- "Hotels cost at most 150 euros.": What it cites does not say it.' in told
    assert '16 weeks.":' not in told
