"""Verbatim quotes of marked-up documents: clean words are found, and told by exact slices of the source."""

import pytest

from citeloop.verification.evidence.quotes import find_quote

PAGE = """# Lamps { #lamps }

/// note

Trim the [wick](https://lamp.example/wick_(care)) **every day** before dusk.

///

| # | Rule | L1 |
| :---: | :--- | :---: |
| **4.2** | Verify that the lamp holds at least `two` litres of [rape oil](oil.md). ([R1](r.md)) | ✓ |
| 4.3 | Verify that no keeper sleeps. | |

- <abbr title="rape oil">RO</abbr> is _by far_ the best oil for any lamp
"""


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        (
            "Trim the wick every day before dusk.",
            "Trim the [wick](https://lamp.example/wick_(care)) **every day** before dusk",
        ),
        (
            "4.2 · Verify that the lamp holds at least two litres of rape oil.",
            "**4.2** | Verify that the lamp holds at least `two` litres of [rape oil](oil.md)",
        ),
        (
            "Verify that the lamp holds at least `two` litres of rape oil.",
            "Verify that the lamp holds at least `two` litres of [rape oil](oil.md)",
        ),
        ("at least two litres of rape oil", "at least `two` litres of [rape oil](oil.md)"),
        (
            "RO is by far the best oil for any lamp",
            '<abbr title="rape oil">RO</abbr> is _by far_ the best oil for any lamp',
        ),
        (
            "Trim the [wick](https://lamp.example/wick_(care)) **every day** before dusk.",
            "Trim the [wick](https://lamp.example/wick_(care)) **every day** before dusk",
        ),
    ],
)
def test_clean_words_are_found_at_their_marked_up_place(quote: str, source: str) -> None:
    span = find_quote(quote, PAGE)
    assert span is not None
    assert PAGE[slice(*span)] == source


@pytest.mark.parametrize(
    "quote",
    [
        "Trim the wick lamp.example every day before dusk.",
        "Verify that the lamp holds at least two litres of rape oil. R1",
        "keeper sleeps",
        "holds at least three litres of rape oil",
    ],
)
def test_other_words_are_not(quote: str) -> None:
    assert find_quote(quote, PAGE) is None
