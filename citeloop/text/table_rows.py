"""Rows of Markdown tables as sentences: their cells, without the bars."""

import re
from dataclasses import dataclass

from citeloop.text.markup import INLINE_CODE
from citeloop.text.plain import count_words, plain_text

_CODE_OR_BAR = re.compile(rf"{INLINE_CODE}|\\\||(?P<bar>\|)")
_WORDS_OF_PROSE = 6
"""Words from which a cell is a sentence: numbers and marks beside it are its label and its references."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row as it reads."""

    label: str
    """The number or mark in front: "3.2.1", "✓"; empty where there is none."""
    cells: tuple[str, ...]
    """What the row says. Empty cells are left out, so are references behind a sentence (columns of marks, numbers)."""


def read_row(text: str) -> TableRow | None:
    """``text``, from bar to bar, as a row of a table; None for other text. Bars in code and escaped ones are text."""
    if not text.lstrip().startswith("|"):
        return None
    cells = _cells(plain_text(text))
    telling = [index for index, cell in enumerate(cells) if count_words(cell)]
    if not any(count_words(cell) >= _WORDS_OF_PROSE for cell in cells):
        return TableRow("", tuple(cells))
    return TableRow(" ".join(cells[: telling[0]]), tuple(cells[telling[0] : telling[-1] + 1]))


def _cells(row: str) -> list[str]:
    cells = [""]
    at = 0
    for part in _CODE_OR_BAR.finditer(row):
        cells[-1] += row[at : part.start()] + ("" if part["bar"] else part.group().removeprefix("\\"))
        at = part.end()
        if part["bar"]:
            cells.append("")
    cells[-1] += row[at:]
    return [" ".join(cell.split()) for cell in cells if cell.strip()]
