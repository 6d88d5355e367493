"""The full scan as a strategy of the query graph: shards side by side, told, bounded, cancelled."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.errors import SearchFailed
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, is_refusal
from citeloop.retrieval.hybrid import SearchOutcome
from citeloop.retrieval.scan import CorpusScanner
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import ScanTask
from citeloop.state.models import RAGResponse, RetrievalStrategy, UserContext
from tests.handbook import engine_over, write_files

OPEN = "Tell me about the limit for hotels and how long parental leave is."


def ask(engine: RAGQueryEngine, question: str = OPEN, **settings: Any) -> RAGResponse:
    return engine.query(question, access_reason="t", config=RAGConfig(strategy="exhaustive", **settings))


def events_of(engine: RAGQueryEngine, **settings: Any) -> list[dict[str, Any]]:
    told = {"question": OPEN, "access_reason": "t"}
    return list(engine.graph.stream(told, context=RAGConfig(strategy="exhaustive", **settings), stream_mode="custom"))


def test_an_open_question_is_scanned_for_by_itself(engine: RAGQueryEngine) -> None:
    response = engine.query(OPEN, access_reason="t")
    assert response.strategy_used is RetrievalStrategy.EXHAUSTIVE
    assert "is not built yet" not in response.trace["analysis"]["reason"]
    assert {query["method"] for query in response.trace["queries"]} == {"scan", "lexical"}
    assert response.trace["scan"]["chunks"] == sum(response.trace["scan"]["chunks_of_corpora"].values())
    assert set(response.trace["scan"]["chunks_of_corpora"]) == {"handbook", "legal"}


def test_shards_change_nothing_but_their_number(engine: RAGQueryEngine) -> None:
    whole, cut = ask(engine, max_correction_rounds=0), ask(engine, max_correction_rounds=0, scan_shard_rows=1)
    assert len(whole.sources) > 3
    assert cut.sources == whole.sources
    assert cut.answer == whole.answer
    assert whole.trace["scan"]["shards"] == 2
    assert cut.trace["scan"]["shards"] == cut.trace["scan"]["chunks"] > 5


def test_the_passages_cover_the_sections_before_any_of_them_twice(tmp_path: Path) -> None:
    pages = {
        f"{name}.md": f"# {name}\n\n" + "\n\n".join(f"The {name} rule {n} is kept. " * 25 for n in range(12))
        for name in ("Leave", "Travel", "Visitors")
    }
    engine = engine_over(tmp_path / "home")
    engine.indexer.index([write_files(tmp_path / "pages", pages)], "rules", UserContext())
    question = "Give me an overview of the leave rule."
    response = ask(engine, question, top_k=3, max_correction_rounds=0, coverage_lambda=0.1)
    assert sorted(source.title for source in response.sources) == ["Leave", "Travel", "Visitors"]
    assert response.trace["coverage"]["documents"] == 3
    by_relevance = ask(engine, question, top_k=3, max_correction_rounds=0, coverage_lambda=1.0)
    assert {source.title for source in by_relevance.sources} == {"Leave"}


def test_each_shard_tells_its_rows_of_all(engine: RAGQueryEngine) -> None:
    events = events_of(engine, scan_shard_rows=2, max_correction_rounds=0)
    shards = [event for event in events if event["node"] == "scan_shard"]
    total = shards[0]["counts"]["total"]
    assert sum(event["counts"]["rows"] for event in shards) == total
    assert all(event["counts"]["rows"] <= 2 and event["counts"]["total"] == total for event in shards)
    assert shards[0]["text"].startswith("scan shard ")
    assert "16 weeks" not in str([event for event in events if event["event"] == "progress"])


def test_a_shard_that_fails_is_told_and_its_siblings_stand(
    engine: RAGQueryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = CorpusScanner.scan

    def failing(self: CorpusScanner, task: ScanTask, caller: UserContext) -> SearchOutcome:
        if task["corpus"] == "legal":
            raise OSError("the disk is gone")
        return scan(self, task, caller)

    monkeypatch.setattr(CorpusScanner, "scan", failing)
    response = ask(engine, max_correction_rounds=0)
    assert {source.corpus for source in response.sources} == {"handbook"}
    assert [failure["error"] for failure in response.trace["failures"]] == ["OSError: the disk is gone"]
    monkeypatch.setattr(CorpusScanner, "scan", lambda *_: (_ for _ in ()).throw(OSError("gone")))
    with pytest.raises(SearchFailed, match="OSError: gone"):
        ask(engine)


def test_nothing_indexed_is_the_refusal(home: Path, onnx_embedder: object) -> None:
    response = ask(engine_over(home))
    assert response.answer.startswith(f"{INDEX_HAS_NO_ANSWER} ") and is_refusal(response.answer)
    assert (response.status, response.sources) == ("no_evidence", ())


async def test_a_cancelled_run_reads_no_further_shard(engine: RAGQueryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()
    scanned: list[int] = []

    def waiting(self: CorpusScanner, task: ScanTask, caller: UserContext) -> SearchOutcome:
        scanned.append(task["shard"])
        begun.release()
        go_on.wait(10)
        return SearchOutcome([], {})

    monkeypatch.setattr(CorpusScanner, "scan", waiting)
    config = RAGConfig(strategy="exhaustive", scan_shard_rows=1)
    run = asyncio.create_task(engine.aquery(OPEN, access_reason="t", config=config))
    assert await asyncio.to_thread(begun.acquire, timeout=10)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    before = len(scanned)
    go_on.set()
    await asyncio.sleep(0.2)
    assert len(scanned) == before
