"""docs/conformance.md tells the truth about the tree: what a row names stands where it says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conformance.md"
SUBJECTS = {"deep retrieval", "full verification", "multi-query patterns"}

_PATH = re.compile(r"`([\w/.]+\.(?:py|md))`")
_NAME = re.compile(r"`([\w/.]+\.py)` ((?:`\w+`(?:, )?)+)")


class Row(NamedTuple):
    """One line of a table."""

    name: str
    home: str
    test: str
    status: str
    reason: str


def _rows() -> Iterator[Row]:
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith(("| Named thing", "| ---")):
            yield Row(*(cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")))


ROWS = list(_rows())
by_row = pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])


def test_the_page_is_read() -> None:
    assert len(ROWS) > 100


@by_row
def test_the_files_of_a_row_exist(row: Row) -> None:
    missing = [path for path in _PATH.findall(row.home) if not (ROOT / "citeloop" / path).is_file()]
    missing += [path for path in _PATH.findall(row.test) if not (ROOT / "tests" / path).is_file()]
    assert missing == []


@by_row
def test_the_names_of_a_row_stand_in_its_file(row: Row) -> None:
    for path, names in _NAME.findall(row.home):
        source = (ROOT / "citeloop" / path).read_text(encoding="utf-8")
        absent = [name for name in re.findall(r"`(\w+)`", names) if not re.search(rf"\b{name}\b", source)]
        assert absent == [], path


@by_row
def test_what_is_there_names_its_home_and_its_test(row: Row) -> None:
    if row.status in ("built", "measured"):
        assert row.home
        assert _PATH.search(row.test)
    else:
        assert row.status.removeprefix("later: ") in SUBJECTS


def test_tests_are_tests() -> None:
    named = {path for row in ROWS for path in _PATH.findall(row.test)}
    assert [path for path in sorted(named) if not Path(path).name.startswith("test_")] == []
