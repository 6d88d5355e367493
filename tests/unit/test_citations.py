"""Citation markers, in the forms that models write."""

import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.text.thinking import strip_thinking
from citeloop.verification.answer_text.citations import ParsedAnswer, parse_citations, strip_source_list

KNOWN = {str(number): number for number in range(1, 6)}


def parse(answer: str) -> ParsedAnswer:
    return parse_citations(answer, KNOWN)


def numbers(answer: str) -> list[int]:
    return [marker.number for marker in parse(answer).markers]


@pytest.mark.parametrize(
    ("written", "normalised"),
    [
        ("Leave is 25 days [1].", "Leave is 25 days [1]."),
        ("Leave is 25 days. [1]", "Leave is 25 days. [1]"),
        ("Leave is 25 days[1].", "Leave is 25 days[1]."),
        ("Leave [1, 2] here", "Leave [1][2] here"),
        ("Leave [ 1 ; 2 ] here", "Leave [1][2] here"),
        ("Leave [1 and 3] here", "Leave [1][3] here"),
        ("Leave [1-3] here", "Leave [1][2][3] here"),
        ("Leave [2–3, 5] here", "Leave [2][3][5] here"),
        ("Leave [1], [2] here", "Leave [1][2] here"),
        ("Leave [1] [2] [1] here", "Leave [1][2] here"),
        ("Leave [[4]] here", "Leave [4] here"),
        ("Leave [[4], [5]] here", "Leave [4][5] here"),
        ("Leave 【1】, ［２］ here", "Leave [1][2] here"),
        ("Leave 【3†source】 here", "Leave [3] here"),
        ("Leave [source 2] and [Documents 3, 4]", "Leave [2] and [3][4]"),
        ("Leave [D2], then [d3, D4]", "Leave [2], then [3][4]"),
        ("Leave [^1] and [#2] and [01]", "Leave [1] and [2] and [1]"),
        ("Leave [source: 2] and [1\u200b]", "Leave [2] and [1]"),
        (r"Leave \[1\], \[2\] and \[source 3\]", "Leave [1][2] and [3]"),
        ("Leave [1, p. 3] and [2, pages 4–5; 3, § 2]", "Leave [1] and [2][3]"),
        ("Leave [1: Leave, travel and 7 more] here", "Leave [1] here"),
        ("Leave [1..3] and [4 ... 5]", "Leave [1][2][3] and [4][5]"),
        ("Leave [1]-[3] and [4]–[5], [1]", "Leave [1][2][3] and [4][5][1]"),
        ("Leave [١] and [२، ३]", "Leave [1] and [2][3]"),
        ("(see [note [4]])", "(see [note [4]])"),
    ],
)
def test_every_form_comes_back_in_one(written: str, normalised: str) -> None:
    parsed = parse(written)
    assert parsed.text == normalised
    assert [parsed.text[m.start : m.end] for m in parsed.markers] == [f"[{m.label}]" for m in parsed.markers]
    assert parsed.unknown == ()


@pytest.mark.parametrize(
    "text",
    [
        "Call `rows[1]` or ``x[2]``.",
        "```python\nfirst = rows[1]\n# [2]\n```",
        "~~~\n[1]\n~~~",
        "```\n[1] a fence left open",
        "Read [1](https://example.org/a) and [the [2] page](notes.md).",
        "[1]: https://example.org/a",
        "Take x[0], x[1][2], row.cells[1], my_list[2].",
        "Then totals[1] = 5.",
        "It was so [sic], [x] done, [ ] open, [1.5], [see above].",
        "Call `rows[D7]`, read [D7](notes.md), take x[i2] or row.cells[a1].",
        "It was [emphasis added], [Editor's note], [the director], [tool.ruff], [COVID-19], [p < 0.5], [H2O], [v1.2].",
        "Call `open[X9]`, read [pricing.md](pricing.md), take x[pricing.md].",
        r"It says \[sic\], from p. 3 [p. 3], in the ratio [1:3].",
    ],
)
def test_a_bracket_that_is_no_citation_is_left_alone(text: str) -> None:
    assert parse(text) == ParsedAnswer(text, (), ())


@pytest.mark.parametrize(
    ("written", "left", "unknown"),
    [
        ("Leave [0].", "Leave.", ("0",)),
        ("Leave [-1].", "Leave.", ("-1",)),
        ("Leave [9] and [9].", "Leave and.", ("9", "9")),
        ("Leave [1, 9].", "Leave [1].", ("9",)),
        ("Leave [4-7].", "Leave [4][5].", ("6", "7")),
        ("Leave is 3 years [D7].", "Leave is 3 years.", ("D7",)),
        ("Leave. [Src12] More [A4, 1] and [B1-B2].", "Leave. More [1] and.", ("Src12", "A4", "B1", "B2")),
        ("Leave [9: Travel] and [1]-[0].", "Leave and.", ("9", "1-0")),
        ("Leave [3-1].", "Leave.", ("3-1",)),
        ("Leave [pricing.md] and [docs/fees-2.pdf, 1].", "Leave and [1].", ("pricing.md", "docs/fees-2.pdf")),
        ("Leave [source: fees.md#leave], [chunk_4], [doc-3f2b].", "Leave.", ("fees.md#leave", "chunk_4", "doc-3f2b")),
        ("Leave [1-999999999].", "Leave.", ("1-999999999",)),
        ("Leave [" + "9" * 6000 + "].", "Leave.", ("9" * 6000,)),
    ],
)
def test_a_number_that_leads_nowhere_is_rejected_and_told(written: str, left: str, unknown: tuple[str, ...]) -> None:
    parsed = parse(written)
    assert (parsed.text, parsed.unknown) == (left, unknown)


def test_ids_of_a_retriever_go_through_the_same_map() -> None:
    parsed = parse_citations("First [D7], then [d1-D2] and [D9] on paper [A4, D1].", {"D7": 1, "D1": 2, "D2": 3})
    assert parsed.text == "First [D7], then [D1][D2] and on paper [D1]."
    assert [(marker.label, marker.number) for marker in parsed.markers] == [
        ("D7", 1),
        ("D1", 2),
        ("D2", 3),
        ("D1", 2),
    ]
    assert parsed.unknown == ("D9", "A4")


@pytest.mark.parametrize(
    ("known", "written", "cited", "unknown"),
    [
        (["A1", "a1"], "[A1] [a1]", ["A1", "a1"], ()),
        (["a1", "A1"], "[A1, a1]", ["A1", "a1"], ()),
        (["D07", "D7"], "[D7] [D07] [D7]-[D8]", ["D7", "D07"], ("D8",)),
        (["D07", "D7"], "[d7] [D007]", [], ("d7", "D007")),
        (["A1", "a1"], "[A01]", [], ("A01",)),
        (["D08", "D09", "D10", "D9"], "[D08-D10]", ["D08", "D09", "D10"], ()),
        (["D07"], "[d7]", ["D07"], ()),
        (["doc3", "doc4"], "[doc3, Doc4]", ["doc3", "doc4"], ()),
        (["pricing.md", "fees.md"], "[Pricing.md; fees.md] [tax.md]", ["pricing.md", "fees.md"], ("tax.md",)),
        (["D7"], "[X9] [D7]", ["D7"], ("X9",)),
    ],
)
def test_ids_that_differ_by_case_or_zeros_are_told_apart(
    known: list[str], written: str, cited: list[str], unknown: tuple[str, ...]
) -> None:
    parsed = parse_citations(f"It is so {written}.", {label: number for number, label in enumerate(known, start=1)})
    assert [marker.label for marker in parsed.markers] == cited
    assert parsed.unknown == unknown
    assert [known[marker.number - 1] for marker in parsed.markers] == cited


@given(st.text(alphabet="ab1239 [].,-`\n(x)_", max_size=60))
def test_what_comes_back_shows_known_citations_only(answer: str) -> None:
    parsed = parse(answer)
    assert all(parsed.text[m.start : m.end] == f"[{m.number}]" and m.number in range(1, 6) for m in parsed.markers)
    assert list(parsed.markers) == sorted(parsed.markers, key=lambda marker: marker.start)
    assert all(label not in KNOWN for label in parsed.unknown)


def lines_run(answer: str) -> int:
    """How many lines of Python it takes to parse ``answer``: work, counted without a clock."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        parse(answer)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("piece", ["[1", "[1]", "[1, 2] ", "[[1]", "x[1] ", "`a", "[a](", "【1"])
def test_work_grows_no_faster_than_the_answer(piece: str) -> None:
    assert lines_run(piece * 10_000) <= 2.2 * lines_run(piece * 5_000)


def test_a_range_costs_as_much_as_its_cap_allows() -> None:
    assert lines_run("[1-999999999]") < 200


def test_reasoning_is_no_part_of_the_reply() -> None:
    assert strip_thinking("<think>Is it [3]?</think>\n\nIt is 25 days [1].") == "It is 25 days [1]."
    assert strip_thinking("so it must be [3].\n</think>\nIt is 25 days [1].") == "It is 25 days [1]."
    assert strip_thinking("<think>cut off") == ""
    assert strip_thinking("It is 25 days [1].") == "It is 25 days [1]."


@pytest.mark.parametrize(
    "tail",
    [
        "Sources:\n[1] Leave policy\n[2] Travel policy",
        "**References**\n\n- [1] Leave policy\n- [9] Made up",
        "### Sources\n1. [Leave policy](leave.md)",
        "Sources: [1], [2]",
    ],
)
def test_a_source_list_of_the_models_own_is_cut_off(tail: str) -> None:
    assert strip_source_list(f"It is 25 days [1].\n\n{tail}\n") == "It is 25 days [1]."


def test_text_after_a_heading_called_sources_stays() -> None:
    answer = "## Sources\nThe river has two sources [1].\n\nIt is long [2]."
    assert strip_source_list(answer) == answer
