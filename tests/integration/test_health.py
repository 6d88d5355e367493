"""``GET /health``: each part tried, and told without paths."""

import shutil
from pathlib import Path

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.errors import StoreBusy
from citeloop.server.health import check_health
from citeloop.state.models import UserContext


def test_all_is_well(engine: RAGQueryEngine) -> None:
    rows = engine.audit.rows()
    health = check_health(engine, UserContext(), uses_chat_endpoint=False)
    assert health.ok
    assert health.writer == "extractive"
    assert all(part.error is None for part in health.parts.values())
    assert engine.audit.rows() == rows, "a probe is no question"


def test_a_caller_without_corpora_may_look_too(engine: RAGQueryEngine) -> None:
    assert check_health(engine, UserContext(user_id="probe"), uses_chat_endpoint=True).ok


def test_one_part_that_fails_is_told_with_its_code(engine: RAGQueryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy() -> None:
        raise StoreBusy("/home/someone/audit.db was locked")

    monkeypatch.setattr(engine.audit, "require_writable", busy)
    health = check_health(engine, UserContext(), uses_chat_endpoint=False)
    assert not health.ok
    assert health.parts["audit"].error == "store_busy"
    assert [name for name, part in health.parts.items() if not part.ok] == ["audit"]
    assert "/home" not in health.model_dump_json()


def test_an_index_that_is_not_readable(engine: RAGQueryEngine, stores: Path) -> None:
    for folder in (stores / "lexical").iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
            folder.mkdir()
            (folder / "meta.json").write_text("not an index")
    health = check_health(engine, UserContext(), uses_chat_endpoint=False)
    assert health.parts["lexical_index"].error == "store_corrupt"
    assert health.parts["store"].ok
    assert health.parts["vector_index"].ok


def test_an_audit_log_that_cannot_be_written(engine: RAGQueryEngine, stores: Path) -> None:
    for path in stores.glob("audit.*"):
        path.unlink()
    (stores / "audit.db").mkdir()
    health = check_health(engine, UserContext(), uses_chat_endpoint=False)
    assert not health.parts["audit"].ok
