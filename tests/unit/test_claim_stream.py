"""The claims of an answer in pieces are those of the whole, each told when the next sentence has begun."""

import random
from itertools import pairwise

import pytest

from citeloop.verification.answer_text.citations import parse_citations, strip_source_list
from citeloop.verification.answer_text.claim_stream import ClaimStream
from citeloop.verification.answer_text.claims import Claim, split_claims

KNOWN = {str(number): number for number in range(1, 6)}

ANSWERS = [
    "Leave is 25 days [1]. Travel is booked early [2, 3]. Parking is free.",
    "Leave is 25 days. [1] Travel is booked early. [2]\n\nSmith et al. [1], who wrote first, left [9]. The end.",
    "# Leave\n\nThe sources say [2]:\n\n- Open the form. It is long.\n- Ask [3].\n\nLeave is 25 days.\n\nEnd.",
    "| Kind | Days |\n|---|---|\n| Leave | 25 [1] |\n| Sick | 30 [2] |\n\nSee `x. [1]` there [1]. So?",
    "Run this [1].\n\n```sh\nmake demo. Then.\n\nwait\n```\n\nThen go on [2]. It is Dr. Smith's 3.5 euros.",
    "休暇は25日です[1]。出張は事前に申請します[2]。以上です。",
    "It is 25 days [1]. It lapses.\n\nSources:\n[1] Leave policy\n[2] Travel policy",
    "No break here",
    "",
]


def whole(answer: str) -> list[Claim]:
    return split_claims(parse_citations(strip_source_list(answer), KNOWN))


def in_pieces(pieces: list[str]) -> list[Claim]:
    stream = ClaimStream(KNOWN)
    return [*(claim for piece in pieces for claim in stream.feed(piece)), *stream.close()]


@pytest.mark.parametrize("answer", ANSWERS)
def test_pieces_of_any_size_give_the_claims_of_the_whole(answer: str) -> None:
    rng = random.Random(6)
    assert in_pieces(list(answer)) == whole(answer)
    for _ in range(20):
        borders = sorted({0, len(answer), *(rng.randrange(len(answer) + 1) for _ in range(8))})
        assert in_pieces([answer[a:b] for a, b in pairwise(borders)]) == whole(answer)


def test_a_sentence_is_told_when_the_next_has_begun() -> None:
    stream = ClaimStream(KNOWN)
    told = [
        [claim.text for claim in stream.feed(f"{word} ")] for word in "Leave is long [1]. It ends. So there".split()
    ]
    assert told == [[], [], [], [], [], ["Leave is long."], [], ["It ends."]]
    assert [claim.text for claim in stream.close()] == ["So there"]


def test_reading_does_not_start_over_with_each_paragraph() -> None:
    stream = ClaimStream(KNOWN)
    paragraphs = [f"Leave {n} is long [1]. It ends in March.\n\n" for n in range(200)]
    for paragraph in paragraphs:
        stream.feed(paragraph)
    assert len(stream._text) < 3 * len(paragraphs[-1])
