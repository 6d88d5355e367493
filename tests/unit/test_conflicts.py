"""Conflicts between sources: what contradicts is found, what only looks alike is not."""

import pytest

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage, Verdict
from citeloop.verification.conflict_notes import without_notes
from citeloop.verification.verifier import Verifier

CONFLICTS = [
    ("Notice is given 30 days ahead.", "Notice is given 14 days ahead."),
    ("Parental leave lasts 16 weeks.", "Parental leave lasts fourteen weeks."),
    ("Full-time employees have 27 days of annual leave.", "Full-time employees have 25 days of annual leave a year."),
    ("The hotel limit is 140 euros a night.", "The hotel limit is €120 a night."),
    ("Unused days of leave lapse on 31 March.", "Unused days of leave lapse on June 30."),
    ("Audit logs are kept for at least 12 months.", "Audit logs are kept for at least 24 months."),
    ("The bridge was opened in 1932 by the mayor.", "The bridge was opened in 1934 by the mayor."),
    ("The deposit covers 20% of the yearly rent.", "The deposit covers 25 percent of the yearly rent."),
    ("The help desk is reached at extension 4410.", "The help desk is reached at extension 4411."),
    ("The river is 6,650 km long from source to mouth.", "The river is 5,900 km long from source to mouth."),
]
NO_CONFLICTS = [
    ("Notice is given 30 days ahead.", "Notice is given 30 days ahead of the term."),
    ("Notice is given 30 days ahead.", "Notice is given thirty days ahead."),
    ("Full-time employees have 27 days of leave.", "Part-time employees have 14 days of leave."),
    ("In 2019 the fee for members was 40 euros.", "In 2020 the fee for members was 45 euros."),
    ("The tunnel is 9.8 km long from end to end.", "The tunnel is 10 km long from end to end."),
    ("The tunnel is about 9 km long from end to end.", "The tunnel is 10 km long from end to end."),
    ("The parcel takes 3 days to the customer.", "The parcel takes 3 to 5 days to the customer."),
    ("The room may be booked for at least 2 hours.", "The room may be booked for at most 8 hours."),
    ("Parental leave lasts 16 weeks.", "Parental leave lasts 16 weeks, or 112 days."),
    ("The Anna bridge is 40 metres long in all.", "The Maria bridge is 60 metres long in all."),
    ("The fee is waived after 5 years of service.", "The fee is waived after 6 months of service."),
    ("Receipts are handed in within 30 days.", "Receipts are not handed in within 14 days."),
    ("The reply is due in 5 days if the goods are damaged.", "The reply is due in 9 days."),
    ("It sold 317,000 copies in the first week.", "It sold 482,000 copies in the first week."),
    ("The maximum stay in the guest house is 9 nights.", "The minimum stay in the guest house is 2 nights."),
    ("Elections were held in 1990 in the whole country.", "Elections were held in 1994 in the whole country."),
    ("The population grew to 1.5 million people.", "The population grew to 1,523,000 people."),
]


def passage(number: int, text: str, **others: object) -> Passage:
    told = Passage(
        number=number,
        chunk_id=f"c{number}",
        corpus="handbook",
        document_id=f"d{number}",
        title=f"Page {chr(64 + number)}",
        uri="",
        heading_path=["Rules"],
        text=text,
        start=0,
        end=len(text),
        score=1.0,
    )
    return Passage(**{**told, **others})  # type: ignore[typeddict-item]


def verdict_on(draft: str, *passages: Passage) -> Verdict:
    return Verifier.by_words().verify("?", draft, passages, RAGConfig())


def conflicts_of(one: str, two: str, **others: object) -> list[dict]:  # type: ignore[type-arg]
    about = f"Something else comes first. {two} And something after."
    return verdict_on(f"{one} [1]", passage(1, one), passage(2, about, **others)).get("conflicts", [])


@pytest.mark.parametrize(("one", "two"), CONFLICTS)
def test_another_value_for_the_same_is_a_conflict(one: str, two: str) -> None:
    for first, second in ((one, two), (two, one)):
        [conflict] = conflicts_of(first, second)
        assert conflict["citation_ids"] == [1, 2]
        assert [value in text for value, text in zip(conflict["values"], (first, second), strict=True)] == [True, True]


@pytest.mark.parametrize(("one", "two"), NO_CONFLICTS)
def test_what_only_looks_alike_is_none(one: str, two: str) -> None:
    assert conflicts_of(one, two) == conflicts_of(two, one) == []


def test_documents_of_different_years_may_differ() -> None:
    one, two = CONFLICTS[0]
    older, newer = passage(1, one, title="Rules of 2018"), passage(2, two, title="Rules of 2019")
    assert "conflicts" not in verdict_on(f"{one} [1]", older, newer)
    assert "conflicts" not in verdict_on(f"{one} [1]", older, passage(2, two, title="Rules, version 2.1"))


@pytest.mark.parametrize("title", ["Rules of 2019", "Rules, version 2.1", "4.2 Notice"])
def test_one_that_tells_its_year_is_held_against_one_that_does_not(title: str) -> None:
    one, two = CONFLICTS[0]
    assert conflicts_of(one, two, title=title)
    assert conflicts_of(one, two, heading_path=[f"3.1 {title}", "Rules"])


def test_a_document_is_not_held_against_itself() -> None:
    one, two = CONFLICTS[0]
    assert conflicts_of(one, two, document_id="d1") == []


def test_short_sentences_need_headings_that_agree() -> None:
    one, two = "The limit is 140 euros a night.", "The limit is 90 euros a night."
    assert conflicts_of(one, two)
    assert conflicts_of(one, two, heading_path=["Hostels"]) == []


def test_the_answer_says_so_and_cites_both() -> None:
    one, two = CONFLICTS[0]
    verdict = verdict_on(f"{one} [1]", passage(1, one), passage(2, f"By the way. {two}", start=100))
    told = "Sources disagree on “Notice is given … ahead”: 30 days [1], 14 days [2]."
    assert verdict["answer"] == f"{one} [1]\n\n{told}"
    second = verdict["citations"][-1]
    assert (second["citation_id"], second["source_text"]) == (2, two)
    assert second["source_start"] == 100 + len("By the way. ")
    start, end = second["span_in_response"]
    assert verdict["answer"][start:end] == told


def test_what_is_checked_again_is_noted_once() -> None:
    one, two = CONFLICTS[0]
    passages = passage(1, one), passage(2, two)
    again = verdict_on(verdict_on(f"{one} [1]", *passages)["answer"], *passages)
    assert again["answer"].count("Sources disagree") == 1
    assert without_notes(again["answer"]) == f"{one} [1]"


def test_values_that_agree_are_told_once_each() -> None:
    one, two = CONFLICTS[0]
    verdict = verdict_on(
        f"{one} [1]", passage(1, one), passage(2, two), passage(3, two), passage(4, "Notice is given 7 days ahead.")
    )
    [conflict] = verdict["conflicts"]
    assert (conflict["values"], conflict["citation_ids"]) == (["30 days", "14 days", "7 days"], [1, 2, 4])


def test_both_sides_cited_make_one_conflict() -> None:
    one, two = CONFLICTS[0]
    verdict = verdict_on(f"{one} [1] {two} [2]", passage(1, one), passage(2, two))
    assert len(verdict["conflicts"]) == 1


def test_an_unsupported_claim_is_held_against_nothing() -> None:
    one, two = CONFLICTS[0]
    verdict = verdict_on("Whales swim 30 days. [1]", passage(1, one), passage(2, two))
    assert "conflicts" not in verdict


def test_rows_of_many_values_are_not_compared() -> None:
    shared = " ".join(f"{metres} metres," for metres in range(110, 250, 20))
    one, two = (f"The halls have lengths of {shared} {last} metres." for last in (470, 590))
    assert conflicts_of(one, two)
    assert conflicts_of(one.replace("of 110", "of 90 metres, 110"), two.replace("of 110", "of 90 metres, 110")) == []


@pytest.mark.parametrize("number", ["ſix", "fıve", "sİx", "5 ſeptember", "2 mıllıon"])
def test_letters_that_only_look_like_those_of_a_number_make_no_value(number: str) -> None:
    assert conflicts_of(f"The house has {number} floors in all.", "The house has 9 floors in all.") == []
