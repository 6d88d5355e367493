"""Claims a second through the support check, the vectors of the sources' sentences remembered, beside bare embedding.

    python benchmarks/support_rate.py DATA_DIR [--claims 400] [--batch 8] [--rounds 5]

DATA_DIR holds ``attributionbench/claims.jsonl``; claims that stand verbatim in their source are left out, as they cost
no embedding. What counts is the ratio: both are timed in turns within one run, on the same claims in the same batches.
``first`` reads the texts of the sources in every round anew, ``again`` remembers what was read of them, as from the
second draft over the same passages on.
"""

import argparse
import json
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from citeloop.models.embedder import Embedder, Vectors
from citeloop.models.load import load_embedder
from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.settings import Settings
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.evidence import quotes, traits, values
from citeloop.verification.evidence.features import evidence_sentences
from citeloop.verification.evidence.quotes import find_quote
from citeloop.verification.evidence.support import ClaimEvidence, SupportScorer

Batch = Sequence[ClaimEvidence]


def read_batches(path: Path, claims: int, size: int) -> list[Batch]:
    """Batches of ``size`` claims with their sources, evenly over the file."""
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    pairs = [ClaimEvidence(parse_citations(r["claim"], {}).text.strip(), (r["source"],)) for r in records]
    pairs = [pair for pair in pairs if pair.claim and not find_quote(pair.claim, pair.passages[0])]
    pairs = pairs[:: max(1, len(pairs) // claims)][:claims]
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


def sentences_of(batches: Sequence[Batch]) -> list[str]:
    """The sentences of all sources, each once."""
    found = (s.text for batch in batches for pair in batch for s in evidence_sentences(pair.passages))
    return list(dict.fromkeys(found))


def seconds_bare(batches: Sequence[Batch], embedder: Embedder) -> float:
    """To embed the claims, batch by batch."""
    started = time.perf_counter()
    for batch in batches:
        embedder.embed([pair.claim for pair in batch])
    return time.perf_counter() - started


def seconds_checked(batches: Sequence[Batch], embedder: Embedder, texts: Sequence[str], vectors: Vectors) -> float:
    """To score the claims, batch by batch; no claim's vector is remembered, every sentence's is."""
    remembering = MemoizedEmbedder(embedder, max_texts=len(texts) + sum(map(len, batches)))
    remembering.prime(texts, vectors)
    scorer = SupportScorer(remembering)
    started = time.perf_counter()
    for batch in batches:
        scorer.score_batch(batch)
    return time.perf_counter() - started


def forget_texts() -> None:
    """Empty what is remembered of texts read."""
    for module in (quotes, traits, values):
        for thing in vars(module).values():
            getattr(thing, "cache_clear", lambda: None)()


def rounds(batches: Sequence[Batch], embedder: Embedder, count: int) -> Iterator[dict[str, float]]:
    """Seconds by what was timed."""
    texts = sentences_of(batches)
    vectors = np.concatenate([embedder.embed(texts[start : start + 64]) for start in range(0, len(texts), 64)])
    for _ in range(count):
        forget_texts()
        yield {
            "bare": seconds_bare(batches, embedder),
            "first": seconds_checked(batches, embedder, texts, vectors),
            "again": seconds_checked(batches, embedder, texts, vectors),
        }


def main() -> None:
    """Time and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--claims", type=int, default=400)
    parser.add_argument("--batch", type=int, default=8, help="claims that are checked together, as those of one draft")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    batches = read_batches(options.data_dir / "attributionbench" / "claims.jsonl", options.claims, options.batch)
    timed = list(rounds(batches, load_embedder(Settings()), options.rounds))
    claims = sum(map(len, batches))
    for name in ("bare", "first", "again"):
        rate = claims / statistics.median(seconds[name] for seconds in timed)
        ratios = sorted(seconds["bare"] / seconds[name] for seconds in timed)
        print(
            f"{name:6}{rate:8.1f} claims/s   {statistics.median(ratios):.2f} of bare ({ratios[0]:.2f}-{ratios[-1]:.2f})"
        )


if __name__ == "__main__":
    main()
