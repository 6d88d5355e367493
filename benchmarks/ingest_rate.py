"""How much of the bare embedder's rate is left when documents are loaded, cut, embedded, stored and indexed.

    python benchmarks/ingest_rate.py DATA_DIR [--documents 150]

Within one run, in turns so that other work on the machine weighs on both: the whole ingest of a sample of the documents
at and under DATA_DIR, and the bare embedder on the very texts that the ingest embedded, in one call. Told in seconds as
they pass and in processor seconds, which other work on the machine disturbs less.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from citeloop.knowledge.ingest import Indexer
from citeloop.knowledge.loaders import LOADERS, find_files
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Embedder, Vectors
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.retrieval.dense import ChromaVectorIndex
from citeloop.retrieval.lexical import TantivyLexicalIndex
from citeloop.state.models import UserContext


class Cost(NamedTuple):
    """Seconds."""

    wall: float
    processor: float

    @classmethod
    def since(cls, start: "Cost") -> "Cost":
        now = cls.now()
        return cls(now.wall - start.wall, now.processor - start.processor)

    @classmethod
    def now(cls) -> "Cost":
        return cls(time.perf_counter(), time.process_time())


class RecordingEmbedder:
    """Keeps the texts that go through it."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.model_id = inner.model_id
        self.dimension = inner.dimension
        self.texts: list[str] = []
        self.seconds = 0.0  # in the embedder

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        started = time.perf_counter()
        vectors = self._inner.embed(texts)
        self.seconds += time.perf_counter() - started
        return vectors


def ingest(files: Sequence[Path], embedder: RecordingEmbedder) -> Cost:
    """What it takes to index the files into a new home."""
    started = Cost.now()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        store = HierarchicalKnowledgeStore(home)
        vectors, words = ChromaVectorIndex(home / "vectors"), TantivyLexicalIndex(home / "lexical")
        report = Indexer(store, vectors, words, embedder).index(files, "benchmark", UserContext())
        cost = Cost.since(started)
        store.close()
    outside = 1 - embedder.seconds / cost.wall
    print(
        f"{report.added} documents, {report.chunks} chunks, {len(embedder.texts)} texts: ingest {cost.wall:.1f} s "
        f"({outside:.1%} of it outside the embedder), processor {cost.processor:.1f} s"
    )
    return cost


def sample(data_dir: Path, documents: int) -> list[Path]:
    """Files of the kinds that load, always the same ones."""
    files = [file for file in find_files([data_dir]) if file.suffix in LOADERS]
    return sorted(random.Random(0).sample(files, min(documents, len(files))))


def compare(files: Sequence[Path], embedder: Embedder) -> Cost:
    """The share of the bare embedder's rate that the ingest reaches."""
    recording = RecordingEmbedder(embedder)
    whole = ingest(files, recording)
    started = Cost.now()
    embedder.embed(recording.texts)
    bare = Cost.since(started)
    print(f"bare embedder {bare.wall:.1f} s, {len(recording.texts) / bare.wall:.0f} texts/s, {bare.processor:.1f} s")
    return Cost(bare.wall / whole.wall, bare.processor / whole.processor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    files = sample(options.data_dir, options.documents)
    embedder = OnnxEmbedder(threads=options.threads)
    embedder.embed(["warm"])
    for _ in range(options.rounds):
        share = compare(files, embedder)
        print(f"-> {share.wall:.0%} of the bare rate ({share.processor:.0%} by processor time)")


if __name__ == "__main__":
    main()
