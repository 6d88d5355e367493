"""An answer in pieces reads as the whole one does, however it is cut."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from citeloop.verification.answer_text.citation_stream import CitationStream
from citeloop.verification.answer_text.citations import ParsedAnswer, parse_citations

KNOWN = {str(number): number for number in range(1, 6)} | {"D7": 7}

FRAGMENTS = [
    *(
        "Leave is 25 days ",
        "Travel ",
        "rows",
        "x",
        "a_b.c",
        "休暇は25日です",
        " ",
        "   ",
        "\t",
        ". ",
        "。",
        ", ",
        "= 5",
    ),
    *("[1]", "[1, ", "2]", "[9]", "[[4]]", "[2-", "4]", "]-[3]", "【1】", "［２］", r"\[1\]", "[D7]", "-", "–"),
    *(
        "[see ",
        "[note [4]]",
        "(see [1])",
        "](https://a.b/c)",
        "[1](notes.md)",
        "![",
        "(",
        ")",
        ":",
        "<",
        '"',
        "\\",
        "!",
    ),
    *("`", "``", "```", "\n```py\n", "\n```\n", "\n~~~\n", "~~~", "`x[1]`", "\n", "\n\n", "\n \n"),
    *("\n[1]: https://a.b", "\n[1]: it"),
]
answers = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join),
    st.text(alphabet="ab129 [](){}`~\n。休[【】,.-:=!\\_", max_size=80),
)


def read(pieces: list[str]) -> tuple[str, ParsedAnswer]:
    stream = CitationStream(KNOWN)
    out = "".join([*(stream.feed(piece) for piece in pieces), stream.close()])
    return out, stream.answer


def cut(answer: str, places: list[int]) -> list[str]:
    borders = sorted({0, len(answer), *(place % (len(answer) + 1) for place in places)})
    return [answer[start:end] for start, end in pairwise(borders)]


@given(answers, st.lists(st.integers(min_value=0, max_value=1000), max_size=12))
@example("a [b [1](c) d](e) f g", [])
@settings(max_examples=1500, deadline=None, derandomize=True)
def test_any_cutting_gives_what_the_whole_gives(answer: str, places: list[int]) -> None:
    whole = parse_citations(answer, KNOWN)
    for pieces in (cut(answer, places), list(answer), [answer]):
        assert read(pieces) == (whole.text, whole)


@pytest.mark.parametrize(
    ("pieces", "released"),
    [
        (["Leave is 25 days [", "1]", ". Travel"], ["Leave is 25 ", "", "days [1]. "]),
        (["It is so [9", "] now. And"], ["It is ", "so now. "]),
        (["See `x", "[1]` or", " more"], ["", "See `x[1]` ", "or "]),
        (["See [the ", "page](a.md) or", " more"], ["", "See [the page](a.md) ", "or "]),
        (["A [ left open", ", and more.\n\nNext", " one"], ["", "A [ left open, and more.\n\n", "Next "]),
        (["休暇は25日です[1", "]。出張", "は"], ["", "休暇は25日です[1]。", ""]),
        (["So:\n```\nx[1] and", " y\n", "```\nThen"], ["", "", "So:\n```\nx[1] and y\n```\n"]),
    ],
)
def test_text_leaves_as_soon_as_it_is_certain(pieces: list[str], released: list[str]) -> None:
    stream = CitationStream(KNOWN)
    assert [stream.feed(piece) for piece in pieces] == released


def test_markers_are_known_while_the_text_arrives() -> None:
    stream = CitationStream(KNOWN)
    stream.feed("Leave is 25 days [1, 9]. Travel")
    assert ([marker.number for marker in stream.answer.markers], stream.answer.unknown) == ([1], ("9",))
