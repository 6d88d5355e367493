"""What the branches of a multi-query graph cost: the slowest of them, or the sum.

    python benchmarks/fan_out.py [--searches 8] [--delay 0.2] [--runs 10]

``rag_fusion`` over an instant chat model and a retriever of which each search takes ``--delay`` seconds, once with an
asynchronous face and once without; then both instant, which leaves the engine's own time; then one branch that hangs,
with a time limit of a second. Prints a Markdown table of medians, in milliseconds.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever

from citeloop import RagFusionConfig, build_rag_fusion_graph
from citeloop.testing import ScriptedChatModel

QUESTION = "How much is the fee?"
FEE = Document(id="D7", page_content="The fee is 12 euros.")


class SlowSync(BaseRetriever):
    """Takes ``delay`` seconds a search, ``hangs`` for ever on one of the rewrites; blocks its thread."""

    delay: float
    hangs: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        time.sleep(self.delay)
        return [FEE]


class SlowAsync(SlowSync):
    """The same, awaited."""

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        await asyncio.sleep(3_600 if self.hangs and query.endswith(" 0") else self.delay)
        return [FEE]


def chat_model(rewrites: int) -> ScriptedChatModel:
    def reply(messages: list[BaseMessage]) -> str:
        lines = "\n".join(f"fee wording {number}" for number in range(rewrites))
        return lines if "search queries" in messages[-1].text else "The fee is 12 euros. [D7]"

    return ScriptedChatModel(replies=reply)


def milliseconds(retriever: BaseRetriever, searches: int, runs: int, **limits: float) -> tuple[float, float]:
    """Median of ``invoke`` and of ``ainvoke``."""
    config = RagFusionConfig(rewrites=searches - 1, **limits)
    graph = build_rag_fusion_graph(llm=chat_model(searches - 1), retriever=retriever, config=config)
    asked: Any = {"question": QUESTION}
    calls: list[Callable[[], Any]] = [lambda: graph.invoke(asked), lambda: asyncio.run(graph.ainvoke(asked))]
    medians = []
    for call in calls:
        response = call()["response"]
        assert len(response["trace"]["queries"]) == searches, "a rewrite was lost"
        assert response["answer"] == "The fee is 12 euros. [D7]"
        times = []
        for _ in range(runs):
            began = time.perf_counter()
            call()
            times.append(1000 * (time.perf_counter() - began))
        medians.append(statistics.median(times))
    return medians[0], medians[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", type=int, default=8)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    n, runs, slow = options.searches, options.runs, f"{options.searches} searches of {1000 * options.delay:.0f} ms"
    rows = {
        f"{slow}, async retriever": milliseconds(SlowAsync(delay=options.delay), n, runs),
        f"{slow}, sync-only retriever": milliseconds(SlowSync(delay=options.delay), n, runs),
        "4 searches, everything instant": milliseconds(SlowAsync(delay=0), 4, 5 * runs),
        "4 searches, one hangs, limit 1,000 ms": milliseconds(SlowAsync(delay=0, hangs=True), 4, 3, search_timeout_s=1),
    }
    print("| run | invoke ms | ainvoke ms |\n| --- | --- | --- |")
    for name, (sync, awaited) in rows.items():
        print(f"| {name} | {sync:.0f} | {awaited:.0f} |")


if __name__ == "__main__":
    main()
