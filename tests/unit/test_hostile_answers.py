"""Hostile answers through parser and claim cutter, whole and in pieces: no crash, and every span is exact.

All 10,000 (some minutes): CITELOOP_HOSTILE_ANSWERS=10000 python -m pytest tests/unit/test_hostile_answers.py
"""

import os
import random

import pytest

from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.answer_text.claim_stream import ClaimStream
from citeloop.verification.answer_text.claims import split_claims
from tests.hostile_answers import KNOWN, check_answer, hostile_answers, in_pieces

COUNT = int(os.environ.get("CITELOOP_HOSTILE_ANSWERS", "400"))


def test_no_hostile_answer_is_read_amiss() -> None:
    rng = random.Random(0)
    for answer in hostile_answers(COUNT):
        check_answer(answer, rng)


@pytest.mark.parametrize(
    "answer",
    [
        "It is so \ud800[1]. \udfff",
        "A.\u2028B. [1] J.\u3000Smith.",
        "Leave is long\n---\n[1]-[3]",
        "[[4], [5]][[4], [5]] [[4]][1], [2]",
        "[D7][other.md]; [[4], [5]]",
        "\x00[1]\x00. \U0010ffff",
    ],
)
def test_what_was_once_read_amiss(answer: str) -> None:
    check_answer(answer, random.Random(0))


def test_the_claims_of_pieces_wait_for_a_quotation_to_end() -> None:
    answer = "“It ends. So it was said!” she wrote [1]. He (who left. Then) came. The end."
    stream = ClaimStream(KNOWN)
    told = [*(claim for piece in in_pieces(answer, random.Random(1)) for claim in stream.feed(piece)), *stream.close()]
    assert told == split_claims(parse_citations(answer, KNOWN))
