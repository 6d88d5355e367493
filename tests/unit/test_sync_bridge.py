"""The synchronous face of an all-async graph, on a graph of our own."""

import asyncio
import os
import threading
from typing import Annotated, Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from citeloop.errors import UsageError
from citeloop.graph.sync_bridge import BridgedGraph
from citeloop.state.reducers import union_by_key


class State(TypedDict, total=False):
    n: int
    done: Annotated[dict[str, int], union_by_key]


class Branches:
    """Counts branches that were cancelled while they waited."""

    def __init__(self, wait_s: float = 0.0) -> None:
        self.wait_s = wait_s
        self.cancelled = 0
        self.started = threading.Event()

    async def work(self, state: State) -> State:
        self.started.set()
        try:
            await asyncio.sleep(self.wait_s)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if state["n"] < 0:
            raise ValueError("negative")
        return {"done": {str(state["n"]): state["n"]}}


def graph_of(branches: Branches, width: int = 3) -> BridgedGraph:
    async def plan(state: State) -> State:
        return {}

    builder = StateGraph(State)
    builder.add_node("plan", plan)
    builder.add_node("work", branches.work)
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda s: [Send("work", {"n": s["n"] + i}) for i in range(width)], ["work"])
    builder.add_edge("work", END)
    return BridgedGraph.over(builder.compile())


EXPECTED = {"1": 1, "2": 2, "3": 3}


def test_invoke_in_a_plain_script() -> None:
    assert graph_of(Branches()).invoke({"n": 1})["done"] == EXPECTED


async def test_invoke_under_a_running_loop() -> None:
    assert graph_of(Branches()).invoke({"n": 1})["done"] == EXPECTED


async def test_ainvoke_and_astream() -> None:
    graph = graph_of(Branches())
    assert (await graph.ainvoke({"n": 1}))["done"] == EXPECTED
    chunks = [chunk async for chunk in graph.astream({"n": 1}, stream_mode="values")]
    assert chunks[-1]["done"] == EXPECTED


def test_stream_and_batch() -> None:
    graph = graph_of(Branches())
    assert list(graph.stream({"n": 1}, stream_mode="values"))[-1]["done"] == EXPECTED
    assert [result["done"] for result in graph.batch([{"n": 1}, {"n": 1}])] == [EXPECTED, EXPECTED]


def test_many_threads_share_the_loop() -> None:
    graph = graph_of(Branches(0.01))
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(graph.invoke({"n": 1})["done"])) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [EXPECTED] * 16


def test_an_error_of_a_node_comes_out_as_it_is() -> None:
    with pytest.raises(ValueError, match="negative"):
        graph_of(Branches()).invoke({"n": -9})


class Panic(BaseException):
    """As pyo3 raises the panic of a Rust extension."""


@pytest.mark.parametrize("kind", [Panic, SystemExit, KeyboardInterrupt])
def test_an_error_that_is_no_exception_ends_the_call_and_not_the_loop(kind: type[BaseException]) -> None:
    async def fail(state: State) -> State:
        raise kind("from below")

    builder = StateGraph(State)
    builder.add_node("fail", fail)
    builder.add_edge(START, "fail")
    failing, raised = BridgedGraph.over(builder.compile()), []

    def call() -> None:
        try:
            failing.invoke({"n": 1})
        except kind as error:
            raised.append(error)

    caller = threading.Thread(target=call, daemon=True)  # where it hangs, the test does not
    caller.start()
    caller.join(timeout=20)
    assert [str(error) for error in raised] == ["from below"]
    assert graph_of(Branches()).invoke({"n": 1})["done"] == EXPECTED


def test_closing_the_generator_cancels_every_branch() -> None:
    branches = Branches(wait_s=60)
    stream = graph_of(branches).stream({"n": 1}, stream_mode="updates")
    next(stream)
    assert branches.started.wait(timeout=10)
    stream.close()
    assert branches.cancelled == 3


def test_with_config_keeps_the_synchronous_face() -> None:
    graph = graph_of(Branches()).with_config(tags=["t"])
    assert isinstance(graph, BridgedGraph)
    assert graph.invoke({"n": 1})["done"] == EXPECTED


def test_as_a_subgraph_of_a_synchronous_parent() -> None:
    parent = StateGraph(State)
    parent.add_node("child", graph_of(Branches()))
    parent.add_edge(START, "child")
    assert parent.compile().invoke({"n": 1})["done"] == EXPECTED


def test_a_call_from_the_engine_loop_is_refused() -> None:
    inner = graph_of(Branches())

    async def calls_itself(state: State) -> State:
        inner.invoke({"n": 1})
        return {}

    builder = StateGraph(State)
    builder.add_node("calls_itself", calls_itself)
    builder.add_edge(START, "calls_itself")
    with pytest.raises(UsageError, match="ainvoke"):
        BridgedGraph.over(builder.compile()).invoke({"n": 1})


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_it_works_after_a_fork() -> None:
    graph = graph_of(Branches())
    graph.invoke({"n": 1})
    child = os.fork()
    if child == 0:
        os._exit(0 if graph.invoke({"n": 1})["done"] == EXPECTED else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_drawn_with_its_nodes_and_edges() -> None:
    edges = {(edge.source, edge.target) for edge in graph_of(Branches()).get_graph(xray=True).edges}
    assert edges == {("__start__", "plan"), ("plan", "work"), ("work", "__end__")}
