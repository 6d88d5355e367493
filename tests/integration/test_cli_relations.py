"""``citeloop index --relations``, as people type it."""

import json
from pathlib import Path

import pytest

from tests.command_line import Run
from tests.openai_stub import OpenAIStub, StubReply
from tests.relation_reading import read_by_pattern, write_films


@pytest.fixture
def command(tmp_path: Path, onnx_embedder: object) -> list[str]:
    files = write_films(tmp_path / "files", "Amber Tide", "Cold Mill")
    return ["index", str(files), "--corpus", "films", "--relations"]


def test_without_a_chat_model_it_is_bad_usage_and_nothing_is_done(home: Path, run: Run, command: list[str]) -> None:
    result = run(home, *command)
    assert (result.returncode, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert "set OPENAI_API_KEY, or OPENAI_BASE_URL" in line
    assert "no corpus yet" in run(home, "corpora").stderr


def test_it_tells_what_it_sends_and_what_that_cost(
    home: Path, run: Run, command: list[str], openai_stub: OpenAIStub
) -> None:
    openai_stub.answer = read_by_pattern
    endpoint = {"OPENAI_BASE_URL": openai_stub.base_url, "CITELOOP_CHAT_MODEL": "a [bold]model[/bold]"}
    result = run(home, *command, **endpoint)
    assert result.returncode == 0, result.stderr
    assert "relations: 2 chunks to read with a [bold]model[/bold], a call each\n" in result.stderr
    indexed, read = result.stdout.splitlines()
    assert indexed.startswith("films: 2 added")
    assert read.startswith("films: 2 relations in 2 chunks, 0 failed; 2 calls, 22 tokens in, 14 out, ")

    again = json.loads(run(home, *command, "--json", **endpoint).stdout)
    assert again["unchanged"] == 2
    assert {name: again["relations"][name] for name in ("to_read", "chunks", "relations", "failed")} == {
        "to_read": 0, "chunks": 0, "relations": 0, "failed": 0
    }  # fmt: skip
    assert len(openai_stub.requests) == 2
    assert "2 chunks, 2 relations, " in run(home, "corpora").stdout
    assert "  relations  2\n" in run(home, "corpora", "show", "films").stdout


def test_what_failed_is_told_and_no_error(home: Path, run: Run, command: list[str], openai_stub: OpenAIStub) -> None:
    openai_stub.reply_with(StubReply("What?"), StubReply('{"relations": []}'))
    result = run(home, *command, OPENAI_BASE_URL=openai_stub.base_url)
    assert result.returncode == 0
    assert "0 relations in 2 chunks, 1 failed" in result.stdout
    assert "not read: 1 chunk, tried again by the next run: the model's reply holds no relations" in result.stderr


def test_an_endpoint_that_is_not_there_is_an_error(home: Path, run: Run, command: list[str]) -> None:
    result = run(home, *command, OPENAI_BASE_URL="http://127.0.0.1:9/v1", CITELOOP_CHAT_MAX_RETRIES="0")
    assert result.returncode == 1
    assert result.stdout.startswith("films: 2 added"), "the documents are in"
    line = result.stderr.splitlines()[-1]
    assert line.startswith("citeloop: reading relations stopped after 2 failed calls in a row (model_unavailable: ")
    assert "cannot be reached" in line


def test_without_the_option_the_endpoint_is_not_called(
    home: Path, run: Run, command: list[str], openai_stub: OpenAIStub
) -> None:
    result = run(home, *command[:-1], "--json", OPENAI_BASE_URL=openai_stub.base_url)
    assert "relations" not in json.loads(result.stdout)
    assert openai_stub.requests == []
    assert "relations" not in run(home, "corpora").stdout
