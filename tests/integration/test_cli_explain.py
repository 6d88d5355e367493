"""``citeloop query --explain``."""

import json
from pathlib import Path

from tests.command_line import Run

QUESTION = ("query", "How long is parental leave?", "--reason", "t", "--explain")


def test_explain_stands_on_stderr(run: Run, stores: Path) -> None:
    ended = run(
        stores, "query", "How long is parental leave?", "--reason", "t", "--strategy", "rag_fusion", "--explain"
    )
    assert ended.returncode == 0
    assert "16 weeks" in ended.stdout
    assert "Documents" not in ended.stdout
    assert "Queries" in ended.stderr
    assert "Parental leave" in ended.stderr


def test_beside_json_it_changes_nothing_of_stdout(run: Run, stores: Path) -> None:
    ended = run(stores, *QUESTION, "--json")
    assert json.loads(ended.stdout)["trace"]["queries"]
    assert "q1" in ended.stderr
