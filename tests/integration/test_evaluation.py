"""``citeloop eval`` on a small set of our own, with the real stores, indexes and embedding model."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from citeloop.evaluation import indexing
from citeloop.evaluation.command import eval as eval_command
from citeloop.evaluation.indexing import ensure_indexed, index_home
from citeloop.evaluation.sets import EvaluationSet, read_set
from citeloop.models.weights import MINILM_ONNX
from tests.command_line import citeloop

needs_weights = pytest.mark.skipif(MINILM_ONNX.locate() is None, reason="the carried model weights are not installed")

CORPUS = [
    {"doc_id": "leave", "title": "Leave", "text": "Parental leave lasts twenty-six weeks. Ask eight weeks ahead."},
    {"doc_id": "travel", "title": "Travel", "text": "Hotel nights are refunded up to 140 euros. Keep the receipt."},
    {"doc_id": "keys", "title": "Office keys", "text": "Lost keys are reported to the front desk within one day."},
    {
        "doc_id": "kiln",
        "title": "Kiln",
        "text": "The kiln is fired on Thursdays at 980 degrees.",
        "corpus_id": "pottery",
    },
]
QUESTIONS = [
    {"qid": "leave", "question": "How long does parental leave last?", "answers": ["twenty-six weeks"],
     "gold_doc_ids": ["leave"], "type": "factual"},
    {"qid": "hotel", "question": "Up to how much are hotel nights refunded?", "answers": ["140 euros"],
     "gold_doc_ids": ["travel"], "type": "factual"},
    {"qid": "kiln", "question": "On which day is the kiln fired?", "answers": ["Thursdays"],
     "gold_doc_ids": ["kiln"], "type": "factual"},
    {"qid": "submarine", "question": "Which submarine discovered the trench near Guam?", "type": "unanswerable",
     "context_doc_id": "keys"},
]  # fmt: skip
CLAIMS = [
    {"id": "1", "claim": "Parental leave lasts twenty-six weeks.", "source": CORPUS[0]["text"], "supported": True},
    {"id": "2", "claim": "Whales sleep in winter caves.", "source": CORPUS[0]["text"], "supported": False},
]
INTENTS = [
    {"question": "How do I report lost keys?", "label": "procedural"},
    {"question": "Compare parental leave and sick leave.", "label": "comparative"},
]


@pytest.fixture
def set_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook-set"
    folder.mkdir()
    for name, rows in {"corpus": CORPUS, "questions": QUESTIONS, "claims": CLAIMS, "intents": INTENTS}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def run(set_dir: Path, *options: str) -> Result:
    arguments = [str(set_dir), "--cache", str(set_dir.parent / "cache"), *options]
    return CliRunner().invoke(eval_command, arguments, catch_exceptions=False)


@needs_weights
def test_a_whole_set_is_measured(set_dir: Path) -> None:
    rows = set_dir.parent / "rows.jsonl"
    result = run(set_dir, "--strategy", "standard", "--rounds", "0", "--rows", str(rows), "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    figures = report["questions"]["metrics"]
    assert figures["recall@5"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 3}
    assert figures["answer_hit"]["value"] == 1.0
    assert figures["retrieval_relevance"]["value"] == 1.0
    assert report["questions"]["errors"] == []
    assert sum(report["questions"]["statuses"].values()) == 4
    assert report["claims"]["metrics"]["support_auc"]["value"] == 1.0
    assert report["intents"]["metrics"]["accuracy"]["value"] == 1.0
    assert report["settings"]["max_correction_rounds"] == 0
    assert report["set_counts"]["documents"] == 4
    assert report["versions"]["answers_by"] == "extractive"
    told = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert [row["qid"] for row in told] == ["leave", "hotel", "kiln", "submarine"]
    assert told[2]["ranked_doc_ids"][0] == "kiln"


@needs_weights
def test_a_restricted_search_cannot_find_the_other_corpus(set_dir: Path) -> None:
    report = json.loads(run(set_dir, "--corpus", "pottery", "--where", "type=factual", "--json").stdout)
    assert report["questions"]["measured"] == 3
    assert report["questions"]["metrics"]["recall@10"]["value"] == pytest.approx(1 / 3)


@needs_weights
def test_tables_are_for_people(set_dir: Path) -> None:
    result = run(set_dir, "--own-corpus", "--limit", "2")
    assert result.exit_code == 0
    assert "recall@5" in result.stdout
    assert "2 questions" in result.stdout


@needs_weights
def test_questions_that_raise_are_listed_and_the_exit_code_tells(
    set_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # nothing listens there
    monkeypatch.setenv("CITELOOP_CHAT_MAX_RETRIES", "0")
    result = run(set_dir, "--where", "qid=leave", "--json")
    assert result.exit_code == 1
    assert "1 of 1 questions raised an error" in result.stderr
    questions = json.loads(result.stdout)["questions"]
    assert [(error["qid"], error["error"].split(":")[0]) for error in questions["errors"]] == [
        ("leave", "model_unavailable")
    ]
    assert questions["statuses"] == {"error": 1}
    assert questions["metrics"]["answered_share"]["value"] == 0.0


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--where", "lang"], "write field=value"), (["--corpus", "x", "--own-corpus"], "exclude each other")],
)
def test_bad_options_are_bad_usage(set_dir: Path, options: list[str], told: str) -> None:
    result = run(set_dir, *options)
    assert result.exit_code == 2
    assert told in result.stderr


def test_each_corpus_is_indexed_once_even_after_an_interruption(set_dir: Path, tmp_path: Path) -> None:
    evaluation_set = read_set(set_dir)
    indexed: list[tuple[str, list[str]]] = []

    def index(file: Path, corpus: str) -> None:
        indexed.append((corpus, [json.loads(line)["doc_id"] for line in file.read_text("utf-8").splitlines()]))
        if corpus == "pottery" and len(indexed) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ensure_indexed(tmp_path / "home", evaluation_set, evaluation_set.corpora, index)
    for _ in range(2):
        ensure_indexed(tmp_path / "home", evaluation_set, evaluation_set.corpora, index)
    assert indexed == [("documents", ["leave", "travel", "keys"]), ("pottery", ["kiln"]), ("pottery", ["kiln"])]


def test_the_index_is_another_for_other_documents_or_another_model(set_dir: Path, tmp_path: Path) -> None:
    evaluation_set = read_set(set_dir)
    home = index_home(tmp_path, evaluation_set, "model-a")
    fewer = EvaluationSet(evaluation_set.name, evaluation_set.sha256, evaluation_set.documents[:2])
    other_questions = EvaluationSet(evaluation_set.name, "another hash", evaluation_set.documents)
    assert index_home(tmp_path, evaluation_set, "model-b") != home
    assert index_home(tmp_path, fewer, "model-a") != home
    assert index_home(tmp_path, other_questions, "model-a") == home


@pytest.mark.parametrize(
    "part", ["retrieval/lexical.py", "retrieval/dense.py", "retrieval/chroma_folder.py", "knowledge/schema.sql"]
)
def test_the_index_is_another_for_other_code_that_makes_it(
    set_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    evaluation_set = read_set(set_dir)
    home = index_home(tmp_path, evaluation_set, "model-a")
    code = Path(shutil.copytree(str(files("citeloop")), tmp_path / "citeloop"))
    monkeypatch.setattr(indexing, "files", lambda package: code)
    assert index_home(tmp_path, evaluation_set, "model-a") == home
    with (code / part).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert index_home(tmp_path, evaluation_set, "model-a") != home


def test_a_bad_set_is_bad_usage(tmp_path: Path) -> None:
    done = citeloop(tmp_path / "home", "eval", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith("citeloop: ")
