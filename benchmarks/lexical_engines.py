"""Which engine for the keyword index? tantivy against three ways of doing it in SQLite, on the same stems.

    python benchmarks/lexical_engines.py DATA_DIR [--chunks 100000] [--questions 200] [--engine NAME]...

DATA_DIR holds sets, one folder each, with ``corpus.jsonl`` (``doc_id, title, text``) and ``questions.jsonl``
(``question, gold_doc_ids``). Their paragraphs, then copies of them with the sentences shuffled, make up the collection;
its questions are real ones. Prints one Markdown table: figures of one run on one machine, to compare with each other.
The build and the latencies are processor time, which other work on the machine does not stretch; the first query after
opening and the update of ten rows, which wait for the disk, are wall time.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sqlite_lexical import Fts5, Fts5GivenWeights, PostingsTable, SqliteLexicalIndex

from citeloop.knowledge.corpus import Hit, OpenCorpus
from citeloop.retrieval.lexical import TantivyLexicalIndex
from citeloop.retrieval.rank_fusion import merge_by_score
from citeloop.retrieval.term_weights import global_term_weights
from citeloop.text.sentences import split_sentences
from citeloop.text.words import content_stems

SETS = ("squad2", "twowiki", "hotpot100", "musique100", "clapnq", "mtragun")
RECALL_SETS = ("squad2", "hotpot100")
SMALL_CORPORA, SMALL_CHUNKS = 16, 40
TOP_K = 50

Engine = SqliteLexicalIndex | TantivyLexicalIndex
Rows = list[tuple[str, str]]
ENGINES: dict[str, Callable[[Path], Engine]] = {
    "FTS5 as it comes": Fts5,
    "FTS5, given weights": Fts5GivenWeights,
    "postings table": PostingsTable,
    "tantivy": TantivyLexicalIndex,
}


def measure(make: Callable[[Path], Engine], rows: Rows, asked: list[list[str]], data: Path) -> dict[str, str]:
    """All figures of one engine, in an empty folder of its own."""
    whole, five, *small = map(_corpus, ["whole", "five", *(f"small{number}" for number in range(SMALL_CORPORA))])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = {"build s": f"{_processor_ms(lambda: make(folder).upsert(whole, rows)) / 1000:.0f}"}
        figures["MB"] = f"{sum(path.stat().st_size for path in folder.rglob('*') if path.is_file()) / 1e6:.0f}"
        engine = make(folder)
        figures["first query ms"] = f"{_wall_ms(partial(search_together, engine, [whole], asked[0])):.1f}"
        figures["p50 / p95 ms"] = _latencies(engine, [whole], asked)
        figures["10 rows ms"] = f"{statistics.median(_update_times(engine, whole, rows)):.0f}"
        engine.upsert(five, rows[:5000])
        figures["5,000: p50 / p95 ms"] = _latencies(engine, [five], asked)
        for number, corpus in enumerate(small):
            engine.upsert(corpus, rows[number * SMALL_CHUNKS :][:SMALL_CHUNKS])
        figures["16 x 40: p50 / p95 ms"] = _latencies(engine, small, asked)
        figures |= {f"{name} recall@5": f"{recall_at_5(engine, data / name):.1f}" for name in RECALL_SETS}
    return figures


def search_together(engine: Engine, corpora: Sequence[OpenCorpus], terms: list[str], top_k: int = TOP_K) -> list[Hit]:
    """One question over several corpora: counts, weights, searches, merge."""
    weights = global_term_weights(engine.statistics(corpus, terms) for corpus in corpora)
    return merge_by_score([engine.search(corpus, weights, top_k) for corpus in corpora if weights], top_k)


def recall_at_5(engine: Engine, folder: Path) -> float:
    """Percent of the gold documents among the first five, over the questions that have some."""
    corpus = _corpus(folder.name)
    engine.upsert(corpus, [(row["doc_id"], _text(row)) for row in _read(folder / "corpus.jsonl")])
    shares = []
    for row in _read(folder / "questions.jsonl"):
        if gold := set(row["gold_doc_ids"]):
            hits = search_together(engine, [corpus], _terms(row["question"]), top_k=5)
            shares.append(len(gold & {hit.chunk_id for hit in hits}) / len(gold))
    return 100 * statistics.mean(shares)


def paragraphs(data: Path, seed: int = 7) -> Iterator[str]:
    """Every paragraph of the sets, then the same ones with their sentences shuffled, again and again."""
    texts = [_text(row) for name in SETS for row in _read(data / name / "corpus.jsonl")]
    yield from texts
    shuffle = random.Random(seed)
    while True:
        for text in texts:
            sentences = [text[start:end] for start, end in split_sentences(text)]
            shuffle.shuffle(sentences)
            yield " ".join(sentences)


def questions(data: Path, count: int, seed: int = 7) -> list[list[str]]:
    """A sample of the sets' questions, as their distinct stems."""
    texts = [row["question"] for name in SETS for row in _read(data / name / "questions.jsonl")]
    return [terms for text in random.Random(seed).sample(texts, count) if (terms := _terms(text))]


def _latencies(engine: Engine, corpora: Sequence[OpenCorpus], asked: list[list[str]]) -> str:
    for terms in asked[:20]:
        search_together(engine, corpora, terms)
    times = [_processor_ms(partial(search_together, engine, corpora, terms)) for terms in asked]
    return f"{statistics.median(times):.2f} / {statistics.quantiles(times, n=20)[18]:.2f}"


def _update_times(engine: Engine, corpus: OpenCorpus, rows: Rows, repeats: int = 7) -> list[float]:
    return [_wall_ms(partial(engine.upsert, corpus, rows[10 * n : 10 * n + 10])) for n in range(repeats)]


def _wall_ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _processor_ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def _corpus(name: str) -> OpenCorpus:
    return OpenCorpus(id=name, name=name, embedding_model="", dimension=0, version=0)


def _terms(question: str) -> list[str]:
    return list(dict.fromkeys(content_stems(question)))


def _text(row: dict[str, Any]) -> str:
    return f"{row['title']}. {row['text']}"


def _read(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main() -> None:
    """Measure the engines named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of the sets")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--engine", action="append", choices=ENGINES, help="may be repeated; all by default")
    asked_for = parser.parse_args()
    texts = islice(paragraphs(asked_for.data), asked_for.chunks)
    rows = [(f"chunk-{number}", text) for number, text in enumerate(texts)]
    asked = questions(asked_for.data, asked_for.questions)
    for number, name in enumerate(asked_for.engine or ENGINES):
        figures = measure(ENGINES[name], rows, asked, asked_for.data)
        if number == 0:
            print("| engine |", " | ".join(figures), "|")
            print("|---" * (len(figures) + 1) + "|")
        print(f"| {name} |", " | ".join(figures.values()), "|", flush=True)


if __name__ == "__main__":
    main()
