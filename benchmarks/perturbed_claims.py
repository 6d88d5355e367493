"""Do claims lose their support when one thing in them is made wrong, and keep it when nothing is?

    python benchmarks/perturbed_claims.py DATA_DIR [--split ood] [--threshold 0.7] [--plot evals/support_trade_off.svg]

DATA_DIR holds ``attributionbench/claims.jsonl``. Originals are all claims of the split that people call supported, not
those that the score likes, and beside them sentences quoted from the same sources. Each is changed in every way of
``changed_claims.py`` that it has something for. Told with 95% bootstrap intervals, for both sorts and each change: the
share of originals at the threshold or over it, of changed claims under it, and of changed claims whose own original
stood at the threshold.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from changed_claims import CHANGES, FEWEST_WORDS
from plots import plot
from train_support import Row, read_rows

from citeloop.evaluation.bootstrap import Estimate, Floats, Ratio, Statistic, estimate
from citeloop.models.load import load_embedder
from citeloop.models.memoized_embedder import MemoizedEmbedder
from citeloop.settings import Settings
from citeloop.verification.evidence.features import evidence_sentences
from citeloop.verification.evidence.support import SupportScorer

SORTS = ("labelled", "quoted")


@dataclass(frozen=True, slots=True)
class Case:
    """A claim and what scores it; ``change`` is empty for an original."""

    sort: str
    change: str
    original: int
    """Place of its original among the cases; its own place for an original."""
    support: float


def originals(rows: Sequence[Row], rng: random.Random) -> Iterator[tuple[str, Row]]:
    """Supported claims, and one sentence out of every source of such a claim."""
    for row in rows:
        if row.supported and len(row.claim.split()) >= FEWEST_WORDS:
            yield "labelled", row
            sentences = [s.text for s in evidence_sentences([row.source]) if 6 <= len(s.text.split()) <= 40]
            if sentences:
                yield "quoted", Row(rng.choice(sentences), row.source, True, row.split, row.question)


def score_cases(rows: Sequence[Row], scorer: SupportScorer, seed: int = 1) -> list[Case]:
    """Originals, each followed by its changed claims."""
    rng = random.Random(seed)
    cases: list[Case] = []
    for sort, row in originals(rows, rng):
        place = len(cases)
        cases.append(Case(sort, "", place, scorer.score(row.claim, [row.source]).score))
        for name, change in CHANGES.items():
            changed = change(row.claim, row.source, rng)
            if changed and changed != row.claim:
                cases.append(Case(sort, name, place, scorer.score(changed, [row.source]).score))
    return cases


def measure(cases: Sequence[Case], threshold: float) -> dict[str, Estimate | None]:
    """Shares by sort and change."""
    over = np.array([case.support >= threshold for case in cases])
    held = over[[case.original for case in cases]]
    statistics: dict[str, Statistic] = {}
    for sort in SORTS:
        of_sort = np.array([case.sort == sort for case in cases])
        changed = of_sort & np.array([case.change != "" for case in cases])
        statistics[f"{sort}: originals over"] = _share(over, of_sort & ~changed)
        for name in ("", *CHANGES):
            chosen = changed & np.array([name in ("", case.change) for case in cases])
            statistics[f"{sort}: {name or 'all changes'} under"] = _share(~over, chosen)
            statistics[f"{sort}: {name or 'all changes'} under, original over"] = _share(~over, chosen & held)
    return estimate(statistics, len(cases))


def draw_trade_off(path: Path, cases: Sequence[Case]) -> None:
    """Share of changed claims under every threshold against the share of originals over it."""
    with plot(path, width=4.5, height=4.5) as axes:
        for sort in SORTS:
            kept, caught = trade_off(cases, sort, np.linspace(0, 1, 101))
            axes.plot(kept, caught, label={"labelled": "claims that people call supported", "quoted": "quotes"}[sort])
            kept, caught = trade_off(cases, sort, np.array([0.7]))
            axes.plot(kept, caught, "o", color=axes.lines[-1].get_color())
        axes.axvline(0.85, linestyle=":", color="grey")
        axes.axhline(0.90, linestyle=":", color="grey")
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="originals over the threshold", ylabel="changed claims under it")
        axes.legend(loc="lower left")
        axes.set_title("dots: threshold 0.7; dotted: wanted", fontsize=9)


def trade_off(cases: Sequence[Case], sort: str, thresholds: Floats) -> tuple[Floats, Floats]:
    """Shares of originals kept and of changed claims caught, at each threshold."""
    kept = np.array([case.support for case in cases if case.sort == sort and not case.change])
    caught = np.array([case.support for case in cases if case.sort == sort and case.change])
    return (kept[None] >= thresholds[:, None]).mean(axis=1), (caught[None] < thresholds[:, None]).mean(axis=1)


def _share(hits: np.ndarray, of: np.ndarray) -> Ratio:
    return Ratio((hits & of).astype(np.float64), of.astype(np.float64))


def main() -> None:
    """Score, tell, draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--split", nargs="+", default=["ood"])
    parser.add_argument("--threshold", type=float, default=0.7)
    parser.add_argument("--plot", type=Path, help="draw the trade-off there")
    options = parser.parse_args()
    rows = [r for r in read_rows(options.data_dir / "attributionbench" / "claims.jsonl") if r.split in options.split]
    scorer = SupportScorer(MemoizedEmbedder(load_embedder(Settings()), max_texts=40_000))
    cases = score_cases(rows, scorer)
    for name, found in measure(cases, options.threshold).items():
        print(f"{name:48}", f"{found.value:6.1%} ({found.low:.1%} - {found.high:.1%}), {found.n}" if found else "-")
    for sort in SORTS:
        for threshold in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            kept, caught = trade_off(cases, sort, np.array([threshold]))
            print(f"{sort} at {threshold}: originals over {kept[0]:.1%}, changed under {caught[0]:.1%}")
    if options.plot:
        draw_trade_off(options.plot, cases)


if __name__ == "__main__":
    main()
