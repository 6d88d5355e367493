"""Branches of the served multi-query graphs that hang, raise or find nothing: the others stand, in bounded time."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.retrieval.hybrid import HybridSearcher
from tests.handbook import audit_events, engine_over
from tests.multi_query_fakes import scripted

LEAVE, HOTELS = "How long is parental leave?", "What is the limit for hotels a night?"
ASKED = {"question": f"{LEAVE} {HOTELS}", "access_reason": "t"}
SCRIPT = {"query_rewriter": f"{LEAVE}\n{HOTELS}", "decomposer": f"{LEAVE}\n{HOTELS}", "step_back": HOTELS}
A_HANG_S = 60
"""No run that waits for a hanging branch ends before; one that minds its time limit ends long before."""

each_pattern = pytest.mark.parametrize("name", ["rag_fusion", "sub_questions", "step_back"])
each_call = pytest.mark.parametrize("call", ["invoke", "ainvoke"])


@pytest.fixture
def engine(stores: Path) -> RAGQueryEngine:
    return engine_over(stores, scripted(**SCRIPT))


@pytest.fixture
def on_hotels(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Replaces what the search for hotels does."""

    def replace(act: Callable[[], Any]) -> None:
        plan = HybridSearcher.plan

        def planned(self: HybridSearcher, queries: list[str], *more: Any) -> Any:
            return act() if queries == [HOTELS] else plan(self, queries, *more)

        monkeypatch.setattr(HybridSearcher, "plan", planned)

    return replace


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """Waited for in vain while the test runs."""
    event = threading.Event()
    yield event
    event.set()


async def ask(engine: RAGQueryEngine, name: str, call: str, **settings: Any) -> dict[str, Any]:
    graph = engine.graphs[name]
    if call == "ainvoke":
        return (await graph.ainvoke(ASKED, context=settings))["response"]  # type: ignore[no-any-return]
    return (await asyncio.to_thread(graph.invoke, ASKED, context=settings))["response"]  # type: ignore[no-any-return]


@each_pattern
@each_call
async def test_a_hanging_branch_costs_its_time_limit(
    engine: RAGQueryEngine, on_hotels: Any, never: threading.Event, name: str, call: str
) -> None:
    on_hotels(lambda: never.wait(2 * A_HANG_S) or [])
    started = time.monotonic()
    response = await ask(engine, name, call, search_timeout_s=1.0)
    assert time.monotonic() - started < A_HANG_S
    assert [(f["query"], f["error"].split(":")[0]) for f in response["trace"]["failures"]] == [(HOTELS, "TimeoutError")]
    assert "leave.md" in {source["uri"] for source in response["sources"]}
    assert audit_events(engine) == [("asked", ""), ("ended", response["status"])]


@each_pattern
@each_call
async def test_a_raising_branch_drops_out(engine: RAGQueryEngine, on_hotels: Any, name: str, call: str) -> None:
    def fail() -> None:
        raise RuntimeError("broken")

    on_hotels(fail)
    response = await ask(engine, name, call)
    assert response["trace"]["failures"] == [{"query": HOTELS, "error": "RuntimeError: broken"}]
    assert "leave.md" in {source["uri"] for source in response["sources"]}


@each_pattern
@each_call
async def test_a_branch_that_finds_nothing_is_no_failure(
    engine: RAGQueryEngine, on_hotels: Any, name: str, call: str
) -> None:
    on_hotels(list)
    response = await ask(engine, name, call)
    assert response["trace"]["failures"] == []
    ranked = {query["query"]: query["ranked"] for query in response["trace"]["queries"]}
    assert ranked[HOTELS] == []
    assert "leave.md" in {source["uri"] for source in response["sources"]}
    assert [part["found"] for part in response["sub_answers"]] == ([True, False] if name == "sub_questions" else [])
