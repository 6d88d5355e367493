"""What the synchronous face costs: one bridge on the compiled graph, and a synchronous twin of each node instead.

    python benchmarks/sync_bridge.py [--nodes 12] [--runs 200]

A chain of nodes that do nothing, so that all the time is LangGraph's and the bridge's. In turns within one run, so that
other work on the machine weighs on all alike: ``ainvoke`` in a running loop, ``invoke`` over the bridge, and ``invoke``
and ``ainvoke`` of the same chain whose nodes are ``RunnableLambda(sync, async)``. Prints a Markdown table of medians,
quartiles, and ratios to the first row: the median of the ratios of each turn.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from citeloop.graph.sync_bridge import BridgedGraph

Graph = CompiledStateGraph[Any, Any, Any, Any]
WARM_UP = 20


class State(TypedDict, total=False):
    """A counter of the nodes passed."""

    passed: int


def count(state: State) -> State:
    return {"passed": state["passed"] + 1}


async def acount(state: State) -> State:
    return {"passed": state["passed"] + 1}


def chain(node: Callable[[State], object] | RunnableLambda[State, State], nodes: int) -> Graph:
    """``node``, as many times, one after the other."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(State)
    names = [START, *(f"node_{number}" for number in range(nodes)), END]
    for name in names[1:-1]:
        builder.add_node(name, node)  # type: ignore[arg-type]
    for source, target in pairwise(names):
        builder.add_edge(source, target)
    return builder.compile()


def contenders(nodes: int, loop: asyncio.AbstractEventLoop) -> dict[str, Callable[[], Any]]:
    """What is compared, the yardstick first; each runs the chain once."""
    plain, twins = chain(acount, nodes), chain(RunnableLambda(count, acount), nodes)
    bridged = BridgedGraph.over(plain)
    start = State(passed=0)
    return {
        "ainvoke": lambda: loop.run_until_complete(plain.ainvoke(start)),
        "invoke, over the bridge": lambda: bridged.invoke(start),
        "invoke, a twin of each node": lambda: twins.invoke(start),
        "ainvoke, a twin of each node": lambda: loop.run_until_complete(twins.ainvoke(start)),
    }


def measure(runs_of: dict[str, Callable[[], Any]], runs: int) -> dict[str, list[float]]:
    """Milliseconds of each run by name, in turns, the order turned round from one turn to the next."""
    times: dict[str, list[float]] = {name: [] for name in runs_of}
    for turn in range(-WARM_UP, runs):
        for name in list(runs_of)[:: 1 if turn % 2 else -1]:
            began = time.perf_counter()
            runs_of[name]()
            elapsed = 1000 * (time.perf_counter() - began)
            if turn >= 0:
                times[name].append(elapsed)
    return times


def report(times: dict[str, list[float]]) -> None:
    """Print the table."""
    print("| face | p50 ms | p25 ms | p75 ms | times ainvoke |\n|---|---|---|---|---|")
    yardstick = next(iter(times.values()))
    for name, of_face in times.items():
        low, middle, high = statistics.quantiles(of_face, n=4)
        ratio = statistics.median(mine / its for mine, its in zip(of_face, yardstick, strict=True))
        print(f"| {name} | {middle:.2f} | {low:.2f} | {high:.2f} | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=12)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    loop = asyncio.new_event_loop()
    runs_of = contenders(options.nodes, loop)
    assert all(run()["passed"] == options.nodes for run in runs_of.values())
    report(measure(runs_of, options.runs))
    loop.close()


if __name__ == "__main__":
    main()
