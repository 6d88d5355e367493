"""Markup as its reader sees it, and the rows of tables as sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.text.plain import plain_text, read_plain
from citeloop.text.table_rows import TableRow, read_row


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("See [the guide](https://lamp.example/a_(b)?x=1#y) first.", "See the guide first."),
        ("See [the *long*\nguide](guide.md).", "See the long\nguide."),
        ("Keep it lit. ([R6](https://lamp.example/#r6))", "Keep it lit."),
        ("![A lamp](lamp.png)Lit.", "Lit."),
        ("**Bold.** *Slanted*, ***both***, Lamp**Post**, _so to say_.", "Bold. Slanted, both, LampPost, so to say."),
        (
            "A **bold part that the cut of a sentence leaves open.",
            "A bold part that the cut of a sentence leaves open.",
        ),
        ('<abbr title="x">CLI</abbr> <!-- no --> one<br>two', "CLI  one two"),
        ("## Oil { #oil-kinds }", "## Oil"),
        ("/// tip | Aside\n\nOil.\n\n///", "\n\nOil.\n\n"),
        ("{* ../lamp.py hl[1] *}", ""),
        ("[oil]: https://lamp.example\nOil.", "\nOil."),
        (r"5 \* 3 and \[not a link\]", "5 * 3 and [not a link]"),
    ],
)
def test_markup_is_not_shown(source: str, shown: str) -> None:
    assert plain_text(source) == shown


@pytest.mark.parametrize(
    "text",
    [
        "`a * b`, `**kwargs`, `[x](y)` and `<br>` are code.",
        "2 * 3 * 4, 2**3, x < y and y > z, list<int>",
        "__init__ and snake_case_name, _private",
        "rows[0] (first) [sic]",
        "| a | b |",
    ],
)
def test_what_is_no_markup_stays(text: str) -> None:
    assert plain_text(text) == text


@given(st.text(alphabet="ab*_`[]()<>{}#|\\/!: \n", max_size=60))
def test_each_character_keeps_its_place(source: str) -> None:
    plain = read_plain(source)
    assert len(plain.text) == len(plain.origin)
    assert list(plain.origin) == sorted(set(plain.origin))
    assert all(source[at] == shown or shown == " " for at, shown in zip(plain.origin, plain.text, strict=True))


def test_a_place_in_the_source_holds_links_and_emphasis_whole() -> None:
    source = "Use [**rape** oil](https://lamp.example) only."
    plain = read_plain(source)
    span = plain.source_span(4, 12)
    assert plain.text[4:12] == "rape oil"
    assert source[slice(*span)] == "[**rape** oil](https://lamp.example)"


@pytest.mark.parametrize("sign", ["[", "[a](", "*a ", "_a b", "<a ", "`a ", "{ #", "(((", "\\", "!["])
def test_reading_is_linear(sign: str) -> None:
    assert len(plain_text(sign * 5_000)) <= 5_000 * len(sign)  # would not end in a lifetime if it were not


def test_a_row_with_a_sentence_is_that_sentence_and_its_label() -> None:
    row = read_row("| **4.2** | Trim the [wick](w.md) each day before dusk. ([R1](r)) | ✓ | | 12 |")
    assert row == TableRow("4.2", ("Trim the wick each day before dusk.",))


def test_a_row_keeps_what_its_cells_tell() -> None:
    assert read_row("| Rape oil | [Chandler's list](c) | burns 9 h | 3 |") == TableRow(
        "", ("Rape oil", "Chandler's list", "burns 9 h", "3")
    )
    late = read_row("| 7 | The keeper must look after the lamp again. | 30 days | 12 hours | ✓ |")
    assert late == TableRow("7", ("The keeper must look after the lamp again.", "30 days", "12 hours"))


@pytest.mark.parametrize("text", ["Use `int | None` here.", "The set {x | x > 1}.", "No bars.", "a | b"])
def test_prose_with_a_bar_is_no_row(text: str) -> None:
    assert read_row(text) is None


def test_escaped_bars_and_bars_in_code_are_text() -> None:
    assert read_row(r"| a \| b | `c | d` |") == TableRow("", ("a | b", "`c | d`"))
