"""What a claim says otherwise than its evidence, and what it names that the evidence does not."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.verification.evidence.contradictions import find_contradiction
from citeloop.verification.evidence.missing import missing_terms
from citeloop.verification.evidence.names import read_names
from citeloop.verification.evidence.support import CONTRADICTED_SUPPORT, SupportScorer
from citeloop.verification.evidence.traits import read_traits

PAIRS = Path(__file__).parents[2] / "benchmarks" / "questions" / "changed_claims.jsonl"
NOTHING = read_traits("")
SUPPORTED_FROM = 0.7

FACTORY = "The Osterby factory employs 340 people and was built by Hanna Kroll in 1962."


@pytest.mark.parametrize(
    ("claim", "sentence", "kind", "told"),
    [
        ("The Osterby factory employs 430 people.", FACTORY, "number", 'it says "340" where the claim says "430"'),
        ("It was built by Hanna Berg in 1962.", "It was built by Hanna Kroll in 1962.", "name", 'it says "Kroll"'),
        (
            "The gate is locked at night.",
            "The gate is not locked at night.",
            "negation",
            '"not" stands only in the source',
        ),
        ("The gate is never locked.", "The gate is locked.", "negation", '"never" stands only in the claim'),
        ("Prices rose in autumn.", "Prices fell in autumn.", "opposite", 'it says "fell" where the claim says "rose"'),
        ("The pass is 12 miles away.", "The pass is 12 km away.", "unit", 'it says "12 km"'),
        ("It cost 3 billion euros.", "All in all it cost the town some 3 million euros.", "unit", "3 million"),
        (
            "The treaty was signed on 4 May 1920 in Lund.",
            "On 9 May 1920, in Lund, after long talks, the treaty was signed; it ended on 4 June 1920.",
            "date",
            "9 May 1920",
        ),
        (
            "In the final of 1996 at Wembley, Alder United easily defeated the champion Brennock.",
            "Brennock, twice champion before, easily defeated in the final of 1996 its old rival Alder United.",
            "swap",
            "in each other's place",
        ),
    ],
)
def test_a_contradiction_is_told_in_words(claim: str, sentence: str, kind: str, told: str) -> None:
    found = find_contradiction(claim, sentence, [sentence], NOTHING)
    assert found is not None
    assert found.kind == kind
    assert told in found.told


def test_what_the_evidence_says_of_another_is_no_support_for_the_first() -> None:
    evidence = [
        "The bakery of Ines Duarte opened in Porto.",
        "Later the brewery of Mateo Rivas opened in Braga near the old station.",
    ]
    claim = "Later the brewery of Ines Duarte opened near the old station."
    found = find_contradiction(claim, evidence[1], evidence, NOTHING)
    assert found is not None
    assert "Mateo Rivas" in found.told


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The factory at Osterby has 340 employees.", FACTORY),
        ("Hanna Kroll built the Osterby factory in 1962.", FACTORY),
        ("The union includes Norra, Sund and Vik.", "The union includes Vik, Norra and Sund."),
        ("The NRC set the limits.", "The National Research Council set the limits."),
        ("The pass is 12 kilometres away.", "The pass is 12 km away."),
        ("Doors aren't locked at night.", "Doors are not locked at night."),
        ("The treaty was signed on May 9, 1920.", "It was on 9 May 1920 that the treaty was signed."),
        ("The town has a harbour.", "Nothing is known of the weather."),
        ("", FACTORY),
    ],
)
def test_a_rewording_is_no_contradiction(claim: str, sentence: str) -> None:
    assert find_contradiction(claim, sentence, [sentence], NOTHING) is None


@pytest.mark.parametrize(("guests", "kind"), [(3, "swap"), (30, None)])
def test_a_list_of_names_is_not_held_against_all_names_of_the_evidence(guests: int, kind: str | None) -> None:
    listed = ", ".join(f"the guest Cook{place}" for place in range(guests))
    claim = f"In the final at Wembley, Alder United easily defeated the champion Brennock; there were {listed}."
    source = f"Brennock, twice champion, easily defeated in the final its old rival Alder United; there were {listed}."
    found = find_contradiction(claim, source, [source], NOTHING)
    assert (found.kind if found else None) == kind


def test_old_letters_in_a_source_are_no_fault() -> None:
    text = "The houſe was built on 5 ſeptember 1702 and has ſix rooms."
    assert find_contradiction("The house was built in 1702.", text, [text], NOTHING) is None


def test_missing_terms_are_spelt_as_the_claim_spells_them() -> None:
    claim = "In 1963 the Osterby factory of Greta Berg-Holm had 1,200 people, as Hanna Kroll wrote."
    assert missing_terms(claim, [read_traits(FACTORY)]) == ("1963", "Greta Berg-Holm", "1,200")
    assert missing_terms(claim, [read_traits(FACTORY), read_traits("Greta Berg-Holm, 1963")]) == ("1,200",)


def test_missing_terms_are_a_handful_and_no_openers_of_sentences() -> None:
    assert missing_terms("Yesterday it rained.", [NOTHING]) == ()
    assert len(missing_terms("It took 1 and 2 and 3 and 4 and 5 and 6 and 7.", [NOTHING])) == 5


def test_names_are_runs_of_capitals_with_the_words_around_them() -> None:
    opening, name = read_names("Yesterday the pilot Marta Lindqvist landed safely.")
    assert (opening.text, opening.opens) == ("Yesterday", True)
    assert (name.text, name.opens) == ("Marta Lindqvist", False)
    assert name.before == {"yesterday", "pilot"}
    assert name.after == {"land", "safe"}


@pytest.fixture(scope="module")
def scorer(onnx_embedder: OnnxEmbedder) -> SupportScorer:
    return SupportScorer(MemoizedEmbedder(onnx_embedder))


def test_the_scorer_tells_what_is_missing_and_what_stands_against_a_claim(scorer: SupportScorer) -> None:
    support = scorer.score("The Osterby factory employs 430 people and was built by Hanna Kroll in 1962.", [FACTORY])
    assert support.score <= CONTRADICTED_SUPPORT
    assert support.missing == ("430",)
    assert support.conflict == 'it says "340" where the claim says "430"'


def test_a_supported_claim_has_no_conflict(scorer: SupportScorer) -> None:
    support = scorer.score("The factory of Osterby employs 340 people.", [FACTORY])
    assert (support.missing, support.conflict) == ((), "")


def test_titles_may_hold_names_that_are_then_not_missing(scorer: SupportScorer) -> None:
    claim = "The Wenn museum closes at noon."
    assert scorer.score(claim, ["It closes at noon on Sundays."]).missing == ("Wenn",)
    assert scorer.score(claim, ["It closes at noon on Sundays."], "Wenn Museum").missing == ()


def test_changed_claims_fall_under_the_threshold_and_originals_stay(scorer: SupportScorer) -> None:
    records = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    by_change: defaultdict[str, list[bool]] = defaultdict(list)
    for record in records:
        support = scorer.score(record["claim"], [record["sentence"]])
        by_change[record["change"]].append(support.score >= SUPPORTED_FROM)
    originals = by_change.pop("")
    assert sum(originals) >= 0.85 * len(originals)
    assert by_change.keys() == {"number", "date", "unit", "name", "negation", "opposite", "swap"}
    changed = [kept for kept_ones in by_change.values() for kept in kept_ones]
    assert sum(changed) <= 0.1 * len(changed)
