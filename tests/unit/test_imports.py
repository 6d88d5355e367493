"""Imports between the parts of the package go the way that the table of ADR 1 says."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "citeloop"
TABLE = Path(__file__).parents[2] / "docs" / "adr" / "0001-layout.md"
AGAINST_THE_TABLE = {("graph/app.py", "engine"), ("state/models.py", "rendering")}
"""When first needed: an engine is opened for the server; a response is asked for itself as Markdown or as a page."""


def table() -> list[tuple[list[str], str]]:
    """The parts of each row, and what they import as it is written, from the top of the table to the bottom."""
    rows = [line.split("|") for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| `")]
    return [([name.strip(" `") for name in parts.split(",")], imports) for _, parts, _, imports, _ in rows]


def imported(source: ast.AST) -> Iterator[str]:
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports() -> set[tuple[str, str]]:
    """File and part imported, for every import of another part, at the top of a file or further in."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        names = imported(ast.parse(file.read_text("utf-8")))
        found |= {(file.relative_to(PACKAGE), name.split(".")[1]) for name in names if name.startswith("citeloop.")}
    return {(file.as_posix(), part) for file, part in found if part != part_of(file)}


def part_of(file: Path) -> str:
    return file.parts[0].removesuffix(".py")


def test_every_part_has_its_row() -> None:
    parts = {part_of(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py")} - {"__init__"}
    assert sorted(name for names, _ in table() for name in names) == sorted(parts)


def test_imports_go_from_the_bottom_of_the_table_to_the_top() -> None:
    rank = {name: number for number, (names, _) in enumerate(table()) for name in names}
    upward = {(file, part) for file, part in imports() if rank.get(part_of(Path(file)), 99) <= rank[part]}
    assert upward == AGAINST_THE_TABLE


def test_the_parts_that_are_named_are_those_that_are_imported() -> None:
    told = {name: row for names, row in table() for name in names}
    taken: dict[str, set[str]] = {name: set() for name in told}
    for file, part in imports() - AGAINST_THE_TABLE:
        if (importer := part_of(Path(file))) in taken:
            taken[importer].add(part)
    in_words = ("of the above", "parts", "everything")
    named = {name: row for name, row in told.items() if not any(words in row for words in in_words)}
    assert len(named) > len(told) / 2
    for name, row in named.items():
        listed = {word.strip("`,()") for word in row.split()} & told.keys()
        alone = len(next(names for names, _ in table() if name in names)) == 1
        assert taken[name] == listed if alone else taken[name] <= listed, name


def test_no_node_imports_another() -> None:
    for file in (PACKAGE / "nodes").glob("*.py"):
        assert not [name for name in imported(ast.parse(file.read_text("utf-8"))) if name.startswith("citeloop.nodes")]
