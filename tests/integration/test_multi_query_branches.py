"""Branches of the multi-query graphs that hang, raise or find nothing, and how many run at a time."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import PrivateAttr

from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.testing import KeyedRetriever
from tests.multi_query_fakes import BUILDERS, FOUND, QUERIES, QUESTION, build, documents

each_graph = pytest.mark.parametrize("name", BUILDERS)
each_call = pytest.mark.parametrize("call", ["invoke", "ainvoke"])


async def ask(graph: ConfiguredGraph[Any], call: str) -> dict[str, Any]:
    if call == "ainvoke":
        return (await graph.ainvoke({"question": QUESTION}))["response"]  # type: ignore[no-any-return]
    return (await asyncio.to_thread(graph.invoke, {"question": QUESTION}))["response"]  # type: ignore[no-any-return]


class Hanging(KeyedRetriever):
    """Known queries are answered; the others hang."""

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if query not in self.results:
            await asyncio.sleep(3_600)
        return await super()._aget_relevant_documents(query, run_manager=run_manager)


class HangingSync(BaseRetriever):
    """Known queries are answered; the others hang until released, in a thread."""

    known: dict[str, list[Document]]
    _released: threading.Event = PrivateAttr(default_factory=threading.Event)

    def release(self) -> None:
        self._released.set()

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if query not in self.known:
            self._released.wait()
        return self.known.get(query, [])


@each_graph
@each_call
async def test_a_hanging_branch_costs_its_time_limit_and_its_siblings_stand(name: str, call: str) -> None:
    hanging = Hanging(results={query: found for query, found in FOUND.items() if query != QUERIES[0]})
    response = await ask(build(name, hanging, search_timeout_s=0.1), call)
    [failure] = response["trace"]["failures"]
    assert failure["query"] == QUERIES[0]
    assert failure["error"].startswith("TimeoutError")
    assert "[D" in response["answer"]


@each_graph
@each_call
async def test_a_hanging_synchronous_branch_too(name: str, call: str) -> None:
    hanging = HangingSync(known={query: found for query, found in FOUND.items() if query != QUERIES[0]})
    try:
        response = await ask(build(name, hanging, search_timeout_s=0.3), call)
    finally:
        hanging.release()
    assert [failure["query"] for failure in response["trace"]["failures"]] == [QUERIES[0]]
    assert "[D" in response["answer"]


@each_graph
@each_call
async def test_a_raising_branch_and_one_without_documents(name: str, call: str) -> None:
    failing = KeyedRetriever(results={**FOUND, QUERIES[0]: RuntimeError("broken"), QUERIES[1]: []})
    response = await ask(build(name, failing), call)
    assert response["trace"]["failures"] == [{"query": QUERIES[0], "error": "RuntimeError: broken"}]
    assert "[D" in response["answer"]


async def test_a_branch_has_one_time_limit_for_retrieval_and_answer() -> None:
    slow = KeyedRetriever(results=FOUND, delays_s={QUERIES[0]: 60})
    response = await ask(build("sub_questions", slow, branch_timeout_s=0.2), "ainvoke")
    assert [part["found"] for part in response["sub_answers"]] == [False, True, True]
    assert response["sub_answers"][0]["error"] == "TimeoutError: no result within 0.2 s"


class Counting(BaseRetriever):
    """Tells how many searches ran at a time."""

    _running: int = PrivateAttr(default=0)
    _most: int = PrivateAttr(default=0)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise AssertionError("the asynchronous face is there")

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self._running += 1
        self._most = max(self._most, self._running)
        await asyncio.sleep(0.01)
        self._running -= 1
        return documents("D1")


@pytest.mark.parametrize("bound", [1, 2, 16])
async def test_concurrency_is_bounded_by_the_setting(bound: int) -> None:
    counting = Counting()
    await build("rag_fusion", counting, max_concurrency=bound).ainvoke({"question": QUESTION})
    assert counting._most == min(bound, 4)


class CancelsItself(KeyedRetriever):
    """Ends as a cancelled task does, though nobody cancelled it."""

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if query == QUERIES[0]:
            raise asyncio.CancelledError
        return await super()._aget_relevant_documents(query, run_manager=run_manager)


@each_graph
@each_call
async def test_a_retriever_that_cancels_itself_is_a_branch_that_dropped_out(name: str, call: str) -> None:
    response = await ask(build(name, CancelsItself(results=FOUND)), call)
    [failure] = response["trace"]["failures"]
    assert failure["error"].startswith("CancelledError")
    assert "[D" in response["answer"]


@each_graph
async def test_searches_that_hang_do_not_hold_up_later_runs(name: str) -> None:
    hanging = HangingSync(known={query: found for query, found in FOUND.items() if query != QUERIES[0]})
    graph = build(name, hanging, search_timeout_s=0.5)
    try:
        for _ in range(6):
            response = await asyncio.wait_for(ask(graph, "ainvoke"), 30)
            assert "[D" in response["answer"]
    finally:
        hanging.release()
