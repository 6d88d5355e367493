"""What each strategy takes as its corpus grows: on a set's corpus, and on the same with made-up passages around it.

    citeloop eval SET_DIR --cache CACHE --limit 1        first: its index is copied here
    python benchmarks/large_corpus.py SET_DIR --cache CACHE [--chunks 100000] [--questions 60] [--keep HOME]

A made-up document is a title and sentences drawn from those of the set, so its names are as common as the real ones
are, and its words weigh in every search. It goes through the real ingest; only its vectors are made up, of its words.
Strategies take turns question by question, so that other work on the machine weighs on all alike; ratios to `standard`
are medians of the questions' ratios.
"""

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from citeloop.engine import RAGQueryEngine, open_engine
from citeloop.evaluation.indexing import index_home
from citeloop.evaluation.sets import EvaluationSet, Question, read_set
from citeloop.knowledge.ingest import Indexer
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Vectors
from citeloop.retrieval.dense import ChromaVectorIndex
from citeloop.retrieval.lexical import TantivyLexicalIndex
from citeloop.settings import Settings
from citeloop.state.config import RAGConfig
from citeloop.state.models import UserContext
from citeloop.text.sentences import split_sentences

STRATEGIES = ("standard", "simple", "graph", "multi_hop", "exhaustive", "auto")
SENTENCES = 4


class WordVectors:
    """Vectors that texts with the same words share: a sum of one random vector a word."""

    def __init__(self, model_id: str, dimension: int) -> None:
        self.model_id, self.dimension = model_id, dimension
        self._of_bucket = np.random.default_rng(0).normal(size=(4096, dimension)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [self._of_bucket[[zlib.crc32(word.encode()) % 4096 for word in text.split() or [""]]] for text in texts]
        sums = np.array([row.sum(axis=0) for row in rows], dtype=np.float32)
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def made_up(whole: EvaluationSet, count: int) -> Iterator[dict[str, str]]:
    drawn = random.Random(0)
    titles = [document.title for document in whole.documents]
    sentences = [text for document in whole.documents for text in split(document.text)]
    for number in range(count):
        first, second = drawn.sample(titles, 2)
        text = " ".join(drawn.choices(sentences, k=SENTENCES))
        yield {"doc_id": f"made-up-{number}", "title": f"{first} and {second} {number}", "text": text}


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_sentences(text)]


def fill(home: Path, corpus: str, whole: EvaluationSet, chunks: int, model: tuple[str, int]) -> int:
    """Add made-up documents until the corpus has ``chunks``; how many it has now."""
    store = HierarchicalKnowledgeStore(home)
    wanted = chunks - chunks_of(store, corpus)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "made-up.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in made_up(whole, wanted)), "utf-8")
        indexer = Indexer(
            store, ChromaVectorIndex(home / "vectors"), TantivyLexicalIndex(home / "lexical"), WordVectors(*model)
        )
        indexer.index([file], corpus, UserContext())
    total = chunks_of(store, corpus)
    store.close()
    return total


def chunks_of(store: HierarchicalKnowledgeStore, corpus: str) -> int:
    return store.corpus_summary(store.open_corpus(corpus, UserContext())).chunks


def ask(engine: RAGQueryEngine, questions: Sequence[Question], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each question by strategy, the median of ``rounds``; a first turn warms up."""
    taken: dict[str, list[float]] = {strategy: [] for strategy in STRATEGIES}
    for number, question in enumerate((questions[0], *questions)):
        for strategy in STRATEGIES:
            times = [once(engine, question.question, strategy) for _ in range(rounds)]
            taken[strategy] += [statistics.median(times)] if number else []
    return taken


def once(engine: RAGQueryEngine, question: str, strategy: str) -> float:
    config = RAGConfig.model_validate({"strategy": strategy, "max_correction_rounds": 0})
    started = time.perf_counter()
    engine.graph.invoke({"question": question, "access_reason": "benchmark"}, context=config)
    return 1000 * (time.perf_counter() - started)


def tell(name: str, taken: dict[str, list[float]]) -> None:
    print(f"| {name} | median ms | p95 | times `standard` |\n| --- | --- | --- | --- |")
    for strategy, times in taken.items():
        ratio = statistics.median(t / base for t, base in zip(times, taken["standard"], strict=True))
        p95 = statistics.quantiles(times, n=20)[-1]
        print(f"| {strategy} | {statistics.median(times):.0f} | {p95:.0f} | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set_dir", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/citeloop/eval").expanduser())
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the large index; one that exists is used as it is")
    options = parser.parse_args()
    settings, whole = Settings(), read_set(options.set_dir)
    small = index_home(options.cache, whole, settings.embedding_model)
    if not small.exists():
        parser.error(f"no index of this set in {options.cache}: run citeloop eval {options.set_dir} --limit 1 first")
    questions = random.Random(1).sample(list(whole.questions), options.questions)
    engine = open_engine(small, settings=settings)
    corpus = engine.store.open_corpora(None, UserContext())[0]
    tell(f"{chunks_of(engine.store, corpus.name)} chunks", ask(engine, questions, options.rounds))
    with tempfile.TemporaryDirectory() as folder:
        home = options.keep or Path(folder) / "home"
        if not home.exists():
            shutil.copytree(small, home)
            started = time.perf_counter()
            total = fill(home, corpus.name, whole, options.chunks, (corpus.embedding_model, corpus.dimension))
            print(f"\nfilled up to {total} chunks in {time.perf_counter() - started:.0f} s\n")
        large = open_engine(home, settings=settings)
        tell(f"{chunks_of(large.store, corpus.name)} chunks", ask(large, questions, options.rounds))


if __name__ == "__main__":
    main()
