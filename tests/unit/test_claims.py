"""The sentences of an answer, and which citations stand for them."""

import pytest

from citeloop.prompts.refusals import NO_EVIDENCE
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.answer_text.claims import Claim, split_claims, without_markers

KNOWN = {str(number): number for number in range(1, 6)}


def split(answer: str) -> list[Claim]:
    return split_claims(parse_citations(answer, KNOWN))


def cited(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.numbers) for claim in split(answer) if claim.is_claim]


@pytest.mark.parametrize(
    "answer",
    [
        "Leave is 25 days [1]. Travel is booked early [2][3].",
        "Leave is 25 days. [1] Travel is booked early. [2, 3]",
        "Leave is 25 days.[1] Travel is booked early.[2][3]",
        "Leave is 25 days [1].\n\nTravel is booked early [2-3].",
        "- Leave is 25 days [1].\n- Travel is booked early [2][3].",
        "1. Leave is 25 days. [1]\n2. Travel is booked early. [2][3]",
        "[1] Leave is 25 days.\n[2][3] Travel is booked early.",
    ],
)
def test_a_marker_belongs_to_its_sentence(answer: str) -> None:
    assert cited(answer) == [("Leave is 25 days.", (1,)), ("Travel is booked early.", (2, 3))]


def test_spans_point_into_the_answer() -> None:
    answer = parse_citations("Leave is 25 days [1]. - Also:\n- Travel is booked early. [2]", KNOWN)
    spans = [answer.text[claim.start : claim.end] for claim in split_claims(answer) if claim.is_claim]
    assert spans[0] == "Leave is 25 days [1]."
    assert spans[-1] == "Travel is booked early."


def test_two_groups_of_markers_make_two_parts() -> None:
    (claim,) = split("The company reported revenue of $10M in Q3 [1], representing a 15% increase [2].")
    assert claim.text == "The company reported revenue of $10M in Q3, representing a 15% increase."
    assert claim.numbers == (1, 2)
    assert [part.numbers for part in claim.parts] == [(1,), (2,)]
    assert claim.parts[0].text == "The company reported revenue of $10M in Q3"
    assert claim.parts[1].text == "representing a 15% increase."


def test_what_follows_the_last_marker_belongs_to_its_part() -> None:
    (claim,) = split("According to the handbook [1], leave is 25 days a year.")
    assert [(part.text, part.numbers) for part in claim.parts] == [
        ("According to the handbook, leave is 25 days a year.", (1,))
    ]


def test_a_marker_after_an_abbreviation_does_not_end_the_sentence() -> None:
    assert cited("Smith et al. [1], who wrote first, found that rest helps [2].") == [
        ("Smith et al., who wrote first, found that rest helps.", (1, 2))
    ]


def test_items_inherit_the_citations_of_their_lead_in() -> None:
    answer = "To request leave [2]:\n- Open the leave form.\n- Ask your manager [3].\n\nLeave is 25 days."
    assert cited(answer) == [
        ("Open the leave form.", (2,)),
        ("Ask your manager.", (3,)),
        ("Leave is 25 days.", ()),
    ]


def test_a_lead_in_keeps_citations_that_no_item_takes() -> None:
    assert cited("The policy says two things [1]: leave is 25 days, travel is early.") == [
        ("The policy says two things: leave is 25 days, travel is early.", (1,))
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "# Leave",
        "**Leave and travel**",
        "Here are the steps:",
        "Here is a summary of the policy.",
        "Would you like to know more?",
        "I hope this helps!",
        "In summary,",
        f"{NO_EVIDENCE} for the second part.",
        "The documents do not mention parental leave.",
        "There is no information about parental leave in the sources.",
        "How long parking is free could not be answered.",
        "| Kind | Days |\n|---|---|",
        "---",
    ],
)
def test_sentences_that_claim_nothing(sentence: str) -> None:
    assert not [claim for claim in split(sentence) if claim.is_claim]


def test_a_cited_sentence_is_a_claim_whatever_it_sounds_like() -> None:
    assert cited("The travel policy does not mention trains in the text [2].")


def test_code_is_no_sentence_and_tables_are_read_by_row() -> None:
    answer = (
        "Run this [1].\n```sh\nmake demo. Then [2] wait.\n```\n| Leave | 25 days [2] |\n| Sick leave | 30 days [3] |"
    )
    assert cited(answer) == [("Run this.", (1,)), ("Leave | 25 days", (2,)), ("Sick leave | 30 days", (3,))]


def test_sentences_without_latin_letters() -> None:
    assert cited("休暇は25日です。[1] 出張は事前に申請します [2]。") == [
        ("休暇は25日です。", (1,)),
        ("出張は事前に申請します。", (2,)),
    ]


def test_markers_alone_claim_nothing() -> None:
    assert split("[1][2]") == []
    assert split("[1]") == split(r"\[1\].") == []
    assert split("") == []


@pytest.mark.parametrize("cited_refusal", ["{}. [1]", "{} [1][2].", "[3] {}.", "{} [D7]."])
def test_an_answer_can_be_had_without_its_markers(cited_refusal: str) -> None:
    answer = parse_citations(cited_refusal.format(NO_EVIDENCE), KNOWN)
    assert without_markers(answer) == f"{NO_EVIDENCE}."


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("Der 2. Weltkrieg endete 1945 [1].", ["Der 2. Weltkrieg endete 1945."]),
        ("Отпуск, т. е. 25 дней, оплачен [1].", ["Отпуск, т. е. 25 дней, оплачен."]),
        ("**Leave**: 25 days [1]\n**Travel**: 30 euros [2]", ["**Leave**: 25 days", "**Travel**: 30 euros"]),
        ("**Leave:** 25 days\n__Travel:__ 30 euros", ["**Leave:** 25 days", "__Travel:__ 30 euros"]),
    ],
)
def test_ordinals_abbreviations_and_labels_are_cut_where_a_reader_would(answer: str, sentences: list[str]) -> None:
    claims = split_claims(parse_citations(answer, {"1": 1, "2": 2}))
    assert [claim.text for claim in claims] == sentences
    assert all(claim.is_claim for claim in claims)
