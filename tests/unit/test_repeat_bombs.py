"""Replies and passages of 300,000 characters that make a pattern with two readings of one run quadratic."""

import subprocess
import sys

import pytest

from tests.hostile_answers import BOMBS

SIZE = 300_000
SMALLER = 16_000
"""Cuts a run in the middle of one of the segmenter's windows of 10,000 characters, as the larger size does not."""
DEADLINE = 120  # seconds: linear code needs one or two, quadratic code half an hour and more

CALLS = """
import sys
from citeloop.text.thinking import strip_thinking
from citeloop.verification.answer_text.citations import parse_citations, strip_source_list
from citeloop.verification.answer_text.claims import split_claims
from citeloop.verification.conflict_notes import without_notes

before, repeated, after, size = *sys.argv[1:4], int(sys.argv[4])
bomb = before + repeated * (size // len(repeated)) + after
strip_source_list(strip_thinking(without_notes(bomb)))
split_claims(parse_citations(bomb, {"1": 1, "2": 2}))
"""

QUOTE_CALLS = """
import sys
from citeloop.verification.evidence.quotes import find_quote

quote, passage, size = *sys.argv[1:3], int(sys.argv[3])
find_quote(quote * (size // len(quote)), passage * (size // len(passage)))
"""


def run(program: str, bomb: tuple[str, ...], size: int) -> None:
    subprocess.run([sys.executable, "-c", program, *bomb, str(size)], check=True, timeout=DEADLINE)


@pytest.mark.parametrize(
    "bomb",
    BOMBS,
    ids=repr,
)
def test_a_reply_is_read_in_linear_time(bomb: tuple[str, str, str]) -> None:
    for size in (SMALLER, SIZE):
        run(CALLS, bomb, size)


@pytest.mark.parametrize(
    ("quote", "passage"),
    [("It rains all day. ", "If it rains all day. "), ("It rains all day. ", "It rains all day. "), ("bb", "aa bb ")],
)
def test_a_quote_is_looked_up_in_linear_time(quote: str, passage: str) -> None:
    run(QUOTE_CALLS, (quote, passage), SIZE // 5)
