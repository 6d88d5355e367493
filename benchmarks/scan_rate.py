"""What a full scan takes: seconds and memory over made-up chunks, as the strategy ``exhaustive`` reads them.

    python benchmarks/scan_rate.py [--chunks 100000] [--shard-rows 8192] [--workers 2]

The store is real, in a temporary folder, with random unit vectors of the shipped model's dimension. Searching the words
and the writing of the answer are not part of it.
"""

import argparse
import resource
import statistics
import tempfile
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.knowledge.store_file import transaction
from citeloop.knowledge.vector_codec import encode_vector
from citeloop.knowledge.vector_rows import Shard, cut_shards, read_shard
from citeloop.models.embedder import Vectors
from citeloop.retrieval.exact import nearest_in_batches
from citeloop.state.models import UserContext

DIMENSION = 384
CHUNKS_OF_A_DOCUMENT = 100
DEPTH = 200
TEXT = "A made-up chunk of some length. " * 20


def fill(store: HierarchicalKnowledgeStore, chunks: int) -> OpenCorpus:
    random = np.random.default_rng(0)
    with store.file.writing() as connection, transaction(connection):
        connection.execute("INSERT INTO corpora VALUES ('c', 'made-up', 'local', 'm', ?, 1, '')", (DIMENSION,))
        for row in range(1, chunks + 1):
            document, position = divmod(row - 1, CHUNKS_OF_A_DOCUMENT)
            if not position:
                uri = f"d{document}"
                connection.execute("INSERT INTO documents VALUES (?, 'c', ?, '', '', '', '')", (uri, uri))
            values = (row, f"chunk-{row}", f"d{document}", position, TEXT)
            connection.execute("INSERT INTO chunks VALUES (?, ?, 'c', ?, 's', ?, 0, 0, ?)", values)
            vector = random.normal(size=DIMENSION)
            blob = encode_vector(vector / np.linalg.norm(vector))
            connection.execute("INSERT INTO chunk_vectors VALUES (?, ?)", (row, blob))
    return store.open_corpus("made-up", UserContext())


def scan(store: HierarchicalKnowledgeStore, corpus: OpenCorpus, query: Vectors, rows: int, workers: int) -> float:
    """Seconds of a scan, from the cutting of shards on."""

    def shard(one: Shard) -> list[Hit]:
        return nearest_in_batches(read_shard(store, corpus, one.first_row, one.last_row), query, DEPTH)

    started = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        found = [hit for hits in pool.map(shard, cut_shards(store, corpus, rows)) for hit in hits]
    sorted(found, key=lambda hit: -hit.score)[:DEPTH]
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--shard-rows", type=int, default=8192)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = HierarchicalKnowledgeStore(Path(folder))
        corpus = fill(store, options.chunks)
        query = np.random.default_rng(1).normal(size=DIMENSION).astype(np.float32)
        query /= np.linalg.norm(query)
        run = (store, corpus, query, options.shard_rows, options.workers)
        seconds = [scan(*run) for _ in range(options.rounds)]
        tracemalloc.start()
        scan(*run)
        peak = tracemalloc.get_traced_memory()[1]
        store.close()
    rows = f"{options.chunks} chunks in shards of {options.shard_rows}, {options.workers} workers"
    print(
        f"{rows}: median {statistics.median(seconds):.2f} s, best {min(seconds):.2f} s; {peak / 2**20:.0f} MB at most"
    )
    print(f"process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB resident at most")


if __name__ == "__main__":
    main()
