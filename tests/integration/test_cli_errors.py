"""What goes wrong on the command line is one line on stderr that says what to do, and no traceback."""

import sqlite3
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.command_line import Run

LEAVE = "How long is parental leave?"

pytestmark = pytest.mark.usefixtures("onnx_embedder")


def told(result: "CompletedProcess[str]", code: int) -> str:
    """The one line."""
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("citeloop: ")
    return line


@pytest.mark.parametrize(
    ("arguments", "way_out"),
    [
        (["ask", ""], "question is empty"),
        (["ask", " \n "], "question is empty"),
        (["ask"], "`citeloop ask --help`"),
        (["query", LEAVE], "'--reason'"),
        (["query", LEAVE, "--reason", " "], "say why you ask"),
        (["query", LEAVE, "--reason", "t", "--strategy", "best"], "'simple', 'standard'"),
        (["query", LEAVE, "--reason", "t", "--top-k", "0"], "1<=x<=200"),
        (["index", "no/such/folder", "--corpus", "a"], "no/such/folder"),
        (["index", ".", "--corpus", " "], "cannot be blank"),
        (["index", "."], "'--corpus'"),
        (["audit", "list", "--limit", "0"], "x>=1"),
        (["nosuch"], "`citeloop --help`"),
    ],
)
def test_bad_usage(stores: Path, run: Run, arguments: list[str], way_out: str) -> None:
    assert way_out in told(run(stores, *arguments), 2)


def test_no_command_is_the_manual(home: Path, run: Run) -> None:
    result = run(home)
    assert (result.returncode, result.stdout) == (2, "")
    assert "Commands:" in result.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("CITELOOP_LOG_LEVEL", "loud"), ("CITELOOP_THREADS", "-1"), ("OPENAI_BASE_URL", "user:secret@nowhere")],
)
@pytest.mark.parametrize("command", [["ask", LEAVE], ["corpora"], ["audit", "verify"]])
def test_a_bad_setting(home: Path, run: Run, command: list[str], name: str, value: str) -> None:
    line = told(run(home, *command, **{name: value}), 2)
    assert f"setting {name}: " in line
    assert value not in line


def test_an_unknown_corpus(stores: Path, run: Run) -> None:
    assert "`citeloop corpora`" in told(run(stores, "ask", LEAVE, "--corpus", "nope"), 1)


def test_nothing_indexed_yet(home: Path, run: Run) -> None:
    assert "`citeloop index PATH --corpus NAME`" in told(run(home, "ask", LEAVE), 1)
    assert "`citeloop index PATH --corpus NAME`" in told(run(home, "query", LEAVE, "--reason", "t"), 1)
    listed = run(home, "corpora")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert "`citeloop index PATH --corpus NAME`" in listed.stderr


@pytest.mark.parametrize(
    "command",
    [["ask", LEAVE], ["index", ".", "--corpus", "a"], ["corpora"], ["audit", "list"], ["audit", "verify"], ["graph"]],
)
def test_a_home_that_is_a_file(home: Path, run: Run, command: list[str]) -> None:
    home.write_text("not a folder")
    assert "CITELOOP_HOME" in told(run(home, *command), 1)


@pytest.mark.parametrize("command", [["ask", LEAVE], ["index", ".", "--corpus", "a"], ["corpora"]])
def test_a_store_that_cannot_be_read(stores: Path, run: Run, command: list[str]) -> None:
    for leftover in stores.glob("store.db*"):
        leftover.unlink()
    (stores / "store.db").write_bytes(b"not a database" * 1000)
    line = told(run(stores, *command), 1)
    assert "store.db cannot be read" in line
    assert "index the documents again" in line


def test_a_store_that_cannot_be_opened(stores: Path, run: Run) -> None:
    for leftover in stores.glob("store.db*"):
        leftover.unlink()
    (stores / "store.db").mkdir()
    assert "is the disk full, or the folder not writable?" in told(run(stores, "corpora"), 1)


def test_an_audit_log_that_cannot_be_read(stores: Path, run: Run) -> None:
    (stores / "audit.db").write_bytes(b"not a database" * 1000)
    for command in (["ask", LEAVE], ["audit", "list"], ["audit", "verify"]):
        assert "audit.db is not a readable audit log" in told(run(stores, *command), 1)


def filled_by(stores: Path, model: str) -> None:
    connection = sqlite3.connect(stores / "store.db")
    with connection:
        connection.execute("UPDATE corpora SET embedding_model = ?", (model,))
    connection.close()


def test_a_store_filled_by_another_embedding_model(stores: Path, run: Run) -> None:
    filled_by(stores, "other/model")
    result = run(stores, "ask", LEAVE, CITELOOP_LOG_LEVEL="ERROR")
    assert "set CITELOOP_EMBEDDING_MODEL=other/model" in told(result, 1)
    assert "index the documents into a new corpus" in told(run(stores, "index", ".", "--corpus", "legal"), 1)


def test_what_nobody_expected(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("no such\ncolumn")

    monkeypatch.setattr("citeloop.engine.open_engine", fail)
    line = told(run(home, "ask", LEAVE), 1)
    assert line.startswith("citeloop: OperationalError: no such column; ")
    assert "CITELOOP_LOG_LEVEL=DEBUG" in line
    result = run(home, "ask", LEAVE, CITELOOP_LOG_LEVEL="DEBUG")
    assert "Traceback (most recent call last)" in result.stderr
    assert result.stderr.splitlines()[-1] == line


def test_interrupted(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("citeloop.engine.open_engine", interrupt)
    result = run(home, "ask", LEAVE)
    assert (result.returncode, result.stdout, result.stderr.strip()) == (1, "", "citeloop: interrupted")
