"""How much of the gold stands before the generator, strategy by strategy on the same questions.

    citeloop eval SET_DIR --own-corpus --cache CACHE      first: its index is read here
    python benchmarks/context_coverage.py SET_DIR --cache CACHE [--strategies S:SETTING=V ...] [--where F=V] [--model]

For each question, in the corpus that it names: the share of its gold documents among the passages of the first context,
and how many documents and sections those passages stand in. Differences to the first strategy are paired. With
``--model`` a stand-in for a chat model cites whatever it is given, so that the groups which ``exhaustive`` then reads
count as one context: what reaches a model, not what a real one would make of it.
"""

import argparse
import asyncio
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from langchain_core.messages import BaseMessage

from citeloop.engine import RAGQueryEngine, open_engine
from citeloop.evaluation.bootstrap import Estimate, Ratio, estimate
from citeloop.evaluation.indexing import index_home
from citeloop.evaluation.ranking import distinct_documents
from citeloop.evaluation.selection import Selection, corpora_to_search, select
from citeloop.evaluation.sets import Question, read_set
from citeloop.settings import Settings
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage
from citeloop.testing import ScriptedChatModel


class Context(NamedTuple):
    """What stood before the generator for one question."""

    covered: float
    documents: int
    sections: int
    passages: int
    milliseconds: float


async def contexts_of(
    engine: RAGQueryEngine, questions: Sequence[Question], corpora: Sequence[tuple[str, ...]], config: RAGConfig
) -> list[Context]:
    return [
        await context_of(engine, question, names, config)
        for question, names in [(questions[0], corpora[0]), *zip(questions, corpora, strict=True)]
    ][1:]  # the first warms up


async def context_of(
    engine: RAGQueryEngine, question: Question, corpora: tuple[str, ...], config: RAGConfig
) -> Context:
    asked = {"question": question.question, "corpora": list(corpora), "access_reason": "benchmark"}
    started, passages = time.perf_counter(), list[Passage]()
    async for update in engine.graph.astream(asked, context=config, stream_mode="updates"):
        for node in ("assemble_context", "gather_partial_answers"):
            passages = passages or update.get(node, {}).get("passages", [])
    documents = distinct_documents(passage["uri"] for passage in passages)
    sections = {(passage["document_id"], *passage["heading_path"]) for passage in passages}
    gold = set(question.gold_doc_ids)
    covered = len(gold.intersection(documents)) / len(gold)
    return Context(covered, len(documents), len(sections), len(passages), 1000 * (time.perf_counter() - started))


def cite_everything(messages: Sequence[BaseMessage]) -> str:
    """A line for each document of the prompt."""
    return "\n".join(f"Noted. [{number}]" for number in re.findall(r'<document number="(\d+)"', messages[-1].text))


def tell(contexts: Mapping[str, Sequence[Context]]) -> None:
    first = next(iter(contexts))
    for name, found in contexts.items():
        covered = np.array([context.covered for context in found])
        before = np.array([context.covered for context in contexts[first]])
        ones = np.ones(len(found))
        told = estimate({"covered": Ratio(covered, ones), "gain": Ratio(covered - before, ones)}, len(found))
        median = statistics.median(context.milliseconds for context in found)
        print(
            f"{name:12} n={len(found)} gold covered {shown(told['covered'])}, against {first} {shown(told['gain'])}; "
            f"passages {mean(c.passages for c in found)}, documents {mean(c.documents for c in found)}, "
            f"sections {mean(c.sections for c in found)}; median {median:.0f} ms"
        )


def shown(figure: Estimate | None) -> str:
    return f"{100 * figure.value:.1f} ({100 * figure.low:.1f} to {100 * figure.high:.1f})" if figure else "-"


def mean(values: object) -> str:
    return f"{statistics.mean(values):.1f}"  # type: ignore[call-overload]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set_dir", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/citeloop/eval"))
    parser.add_argument("--strategies", nargs="+", default=["standard", "exhaustive"])
    parser.add_argument("--where", action="append", default=[], help="FIELD=VALUE of the questions")
    parser.add_argument("--model", action="store_true", help="with a stand-in for a chat model")
    options = parser.parse_args()
    settings, whole = Settings(), read_set(options.set_dir)
    home = index_home(options.cache.expanduser(), whole, settings.embedding_model)
    if not home.exists():
        parser.error(f"no index of this set in {options.cache}: run citeloop eval --own-corpus first")
    selection = Selection(own_corpus=True, where=tuple(tuple(one.split("=", 1)) for one in options.where))
    chosen = select(whole, selection)
    asked = [question for question in chosen.questions if question.gold_doc_ids]
    corpora = [
        names for q, names in zip(chosen.questions, corpora_to_search(chosen, selection), strict=True) if q in asked
    ]
    engine = open_engine(
        home, settings=settings, llm=ScriptedChatModel(replies=cite_everything) if options.model else None
    )
    runs = {name: asyncio.run(contexts_of(engine, asked, corpora, settings_of(name))) for name in options.strategies}
    for kind in sorted({question.type for question in asked}):
        print(f"-- {kind}")
        tell({name: [c for c, q in zip(found, asked, strict=True) if q.type == kind] for name, found in runs.items()})


def settings_of(name: str) -> RAGConfig:
    """``exhaustive`` or ``standard:top_k=50``: a strategy, and settings in place of the defaults."""
    strategy, *given = name.split(":")
    return RAGConfig.model_validate(
        {"strategy": strategy, "max_correction_rounds": 0, **dict(g.split("=") for g in given)}
    )


if __name__ == "__main__":
    main()
