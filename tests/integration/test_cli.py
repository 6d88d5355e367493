"""The command line as real processes: what each command prints, and where."""

import json
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from citeloop.state.models import RAGResponse
from tests.command_line import REPOSITORY, citeloop, environment
from tests.handbook import HANDBOOK, write_files

LEAVE = "How long is parental leave?"


def done(result: "CompletedProcess[str]") -> str:
    assert result.returncode == 0, result.stderr
    return result.stdout


def json_lines(result: "CompletedProcess[str]") -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in done(result).splitlines()]


def test_from_files_to_a_cited_answer(home: Path, tmp_path: Path, onnx_embedder: object) -> None:
    files = write_files(tmp_path / "files", {**HANDBOOK, "picture.png": "no text"})
    first = citeloop(home, "index", str(files), "--corpus", "handbook")
    assert done(first).startswith("handbook: 3 added, 0 replaced, 0 unchanged, 0 removed, 1 skipped;")
    assert first.stderr.startswith("skipped picture.png")

    (files / "leave.md").unlink()
    again = json.loads(done(citeloop(home, "index", str(files), "--corpus", "handbook", "--prune", "--json")))
    assert {name: again[name] for name in ("corpus", "added", "replaced", "unchanged", "removed", "chunks")} == {
        "corpus": "handbook",
        "added": 0,
        "replaced": 0,
        "unchanged": 2,
        "removed": 1,
        "chunks": 0,
    }
    assert len(again["skipped"]) == 1
    answer = citeloop(home, "ask", "How much is paid back for meals a day?")
    assert "45 euros a day. [1]" in done(answer)


def test_ask_prints_the_answer_alone_and_notes_apart(stores: Path) -> None:
    result = citeloop(stores, "ask", LEAVE)
    assert done(result).startswith("Parental leave lasts 16 weeks at full pay. [1]\n\n---\n**Sources:**\n[1] ")
    assert result.stdout.rstrip().endswith("leave.md)")
    assert "answered, confidence 0." in result.stderr
    assert "audit id" in result.stderr


def test_query_as_json_is_the_response(stores: Path) -> None:
    options = ("--reason", "planning", "--corpus", "handbook", "--strategy", "standard", "--top-k", "4", "--json")
    response = RAGResponse.model_validate_json(done(citeloop(stores, "query", LEAVE, *options)))
    assert "16 weeks" in response.answer
    assert (response.status, response.strategy_used) == ("answered", "standard")
    assert len(response.sources) <= 4
    assert {source.corpus for source in response.sources} == {"handbook"}
    assert response.citations[0].uri == "leave.md"
    assert response.tokens_used > 0
    assert response.timings_ms.keys() >= {"authorize", "generate_answer"}
    assert {"analysis", "queries", "rounds"} <= response.trace.keys()


def test_a_claim_policy_is_never_weaker_than_the_environments(stores: Path) -> None:
    def asked(claims: str, least: str) -> RAGResponse:
        options = ("--reason", "planning", "--claims", claims, "--json")
        return RAGResponse.model_validate_json(
            done(citeloop(stores, "query", LEAVE, *options, CITELOOP_CLAIM_POLICY=least))
        )

    unchecked = asked("off", "off")
    assert (unchecked.status, unchecked.claims) == ("unchecked", ())
    assert asked("off", "annotate").claims
    assert asked("strict", "annotate").trace["removed"] == []


def test_ask_as_json_when_nothing_answers(stores: Path) -> None:
    result = citeloop(stores, "ask", "Which telescope photographed Saturn?", "--json")
    response = RAGResponse.model_validate_json(done(result))
    assert (response.status, response.sources) == ("no_evidence", ())


def test_corpora(stores: Path) -> None:
    assert done(citeloop(stores, "corpora")).splitlines()[0].startswith("handbook: 3 documents, ")
    rows = json_lines(citeloop(stores, "corpora", "--json"))
    assert [(row["name"], row["documents"]) for row in rows] == [("handbook", 3), ("legal", 1)]
    counts = {"documents", "chunks", "relations"}
    assert rows[0].keys() == {"name", "owner", *counts, "embedding_model", "version", "updated_at"}


def test_home_as_an_option_rules_over_the_environment(stores: Path, tmp_path: Path) -> None:
    result = citeloop(tmp_path / "elsewhere", "--home", str(stores), "corpora")
    assert done(result).startswith("handbook: ")
    assert not (tmp_path / "elsewhere").exists()


def test_graph(home: Path, onnx_embedder: object) -> None:
    assert "analyze_query -.-> plan_searches" in done(citeloop(home, "graph"))
    drawn = json.loads(done(citeloop(home, "graph", "--json")))
    assert drawn.keys() == {"nodes", "edges"}
    assert {"source": "plan_searches", "target": "search_corpus", "conditional": True} in drawn["edges"]
    assert {"source": "search_corpus", "target": "fuse_results"} in drawn["edges"]


def test_output_can_be_cut_short_by_its_reader(stores: Path) -> None:
    command = f"'{sys.executable}' -m citeloop.cli graph | head -1"
    result = subprocess.run(
        command, shell=True, env=environment(stores), capture_output=True, text=True, timeout=120, check=False
    )
    assert (result.stdout, result.stderr) == ("---\n", "")


@pytest.mark.parametrize("command", ["", "index", "ask", "query", "corpora", "audit", "eval", "graph"])
def test_help_is_quick(home: Path, command: str) -> None:
    arguments = [*filter(None, [command]), "--help"]
    script = (
        "import sys; from citeloop.cli import cli\n"
        f"try: cli({arguments!r}, prog_name='citeloop')\n"
        "finally: print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(home),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done(result).startswith(f"Usage: citeloop {command}".rstrip())
    loaded = set(result.stderr.split())
    assert loaded.isdisjoint({"chromadb", "onnxruntime", "langgraph", "torch", "tantivy", "langchain_openai", "openai"})
    assert not home.exists(), "help makes no folders"


def test_a_corpus_is_deleted_when_asked_twice(stores: Path) -> None:
    asked_back = citeloop(stores, "corpora", "delete", "legal")
    assert (asked_back.returncode, asked_back.stdout) == (1, "")
    assert done(citeloop(stores, "corpora", "delete", "legal", "--yes")).startswith("legal: deleted, 1 documents")
    assert [row["name"] for row in json_lines(citeloop(stores, "corpora", "--json"))] == ["handbook"]
    again = citeloop(stores, "corpora", "delete", "legal", "--yes")
    assert (again.returncode, "no corpus named 'legal'" in again.stderr) == (1, True)


def test_a_narrow_character_set_loses_no_answer(home: Path, tmp_path: Path, onnx_embedder: object) -> None:
    files = write_files(tmp_path / "files", {"core.md": "# Core time\n\nCore time is コアタイム, from 10 to 15.\n"})
    done(citeloop(home, "index", str(files), "--corpus", "times"))
    answer = citeloop(home, "ask", "When is core time?", PYTHONIOENCODING="cp1252")
    assert "\\u30b3" in done(answer)
