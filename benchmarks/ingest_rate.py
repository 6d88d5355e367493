"""How much of the bare embedder's rate is left when documents are loaded, cut, embedded, stored and indexed.

    python benchmarks/ingest_rate.py DATA_DIR [--documents 150]

Within one run, alternating so that other work on the machine weighs on both: the whole ingest of a sample of the
documents at and under DATA_DIR, and the bare embedder on the very texts that the ingest embedded, in one call.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from citeloop.knowledge.ingest import Indexer
from citeloop.knowledge.loaders import LOADERS, find_files
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Embedder, Vectors
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.retrieval.dense import ChromaVectorIndex
from citeloop.retrieval.lexical import TantivyLexicalIndex
from citeloop.state.models import UserContext


class RecordingEmbedder:
    """Keeps the texts that go through it."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.model_id = inner.model_id
        self.dimension = inner.dimension
        self.texts: list[str] = []
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        started = time.perf_counter()
        vectors = self._inner.embed(texts)
        self.seconds += time.perf_counter() - started
        return vectors


def ingest(files: Sequence[Path], embedder: RecordingEmbedder) -> float:
    """Seconds to index the files into a new home."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        store = HierarchicalKnowledgeStore(home)
        vectors, words = ChromaVectorIndex(home / "vectors"), TantivyLexicalIndex(home / "lexical")
        report = Indexer(store, vectors, words, embedder).index(files, "benchmark", UserContext())
        store.close()
    print(f"  {report.added} documents, {report.chunks} chunks, {len(embedder.texts)} texts: {report.seconds:.1f} s")
    return report.seconds


def sample(data_dir: Path, documents: int) -> list[Path]:
    """Files of the kinds that load, always the same ones."""
    files = [file for file in find_files([data_dir]) if file.suffix in LOADERS]
    return sorted(random.Random(0).sample(files, min(documents, len(files))))


def ratios(files: Sequence[Path], embedder: Embedder, rounds: int) -> Iterator[tuple[float, float]]:
    """Per round: the bare rate's share that the ingest reached, and the share of its time spent embedding."""
    for _ in range(rounds):
        recording = RecordingEmbedder(embedder)
        whole = ingest(files, recording)
        started = time.perf_counter()
        embedder.embed(recording.texts)
        bare = time.perf_counter() - started
        print(f"  bare embedder: {bare:.1f} s, {len(recording.texts) / bare:.0f} texts/s")
        yield bare / whole, recording.seconds / whole


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
    for ratio, embedding in ratios(files, embedder, options.rounds):
        print(f"ingest at {ratio:.0%} of the bare embedder's rate ({embedding:.0%} of its time in the embedder)")


if __name__ == "__main__":
    main()
