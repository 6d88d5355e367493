"""Sentences that say what the sources do not hold, told apart from claims about what is not so in the world."""

import pytest

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage
from citeloop.verification.answer_text.abstention import abstains
from citeloop.verification.verifier import Verifier


@pytest.mark.parametrize(
    "sentence",
    [
        "The provided documents do not say when it began.",
        "What c is could not be answered.",
        "What c is could not be answered from the sub-answers.",
        "However, how long parking is free could not be answered.",
        "Whether dogs are allowed remains unanswered.",
        "The part about parking is not covered.",
        "The part about parking is not covered by the documents.",
        "The part of the question about parking could not be answered.",
        "Unfortunately, the other part of your question was not found.",
        "The second sub-question could not be answered.",
        "The question of what c is cannot be answered.",
        "No answer was found for the price of parking.",
        "I could not find information about parking.",
        "The sub-answers do not say where parking is.",
        "Parking: not found.",
    ],
)
def test_what_names_a_missing_part_abstains(sentence: str) -> None:
    assert abstains(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Employees do not work on public holidays.",
        "The policy does not cover parking.",
        "Parking is not covered by the policy.",
        "Flood damage is not covered.",
        "What is not covered is theft.",
        "What the insurer calls an act of God is not covered.",
        "Part of the damage is not covered.",
        "The part of the roof over the porch is not covered.",
        "The plan covers no part of the cost.",
        "The cause of the fire could not be determined.",
        "12% of calls could not be answered.",
        "The letter was not answered.",
        "The key was not found.",
        "The minister did not answer the question.",
    ],
)
def test_what_is_not_so_in_the_world_is_a_claim(sentence: str) -> None:
    assert not abstains(sentence)


PASSAGE = Passage(
    number=1,
    chunk_id="c1",
    corpus="",
    document_id="d1",
    title="",
    uri="",
    heading_path=[],
    text="The keeper feeds two cats.",
    start=0,
    end=26,
    score=1.0,
)


@pytest.mark.parametrize(
    ("draft", "refused"),
    [
        ("Not found. The documents only speak of cats [1].", True),
        ("<answer>not found</answer>", True),
        ("What c is could not be answered.", True),
        ("The keeper feeds two cats [1]. What c is could not be answered.", False),
        ("The keeper feeds two cats [1]. The part about dogs is not covered.", False),
    ],
)
def test_a_draft_that_only_abstains_is_a_refusal_and_a_missing_part_costs_nothing(draft: str, refused: bool) -> None:
    verdict = Verifier.by_words().verify("q", draft, [PASSAGE], RAGConfig())
    assert verdict["refused"] is refused
    assert verdict["passed"] is not refused
