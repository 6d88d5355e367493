"""Every strategy on every set, on the same questions: a table with intervals and a plot.

    python benchmarks/strategy_table.py DIR [--cache CACHE] [--limit 160] [--sets twowiki ...] [--strategies graph ...]

``DIR`` holds the folders of the sets. Offline, no correction rounds. ``standard`` is always measured, and first:
differences to it are paired by question. Writes ``evals/strategies.md`` and ``evals/strategies.svg``.
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
from rich.console import Console

from benchmarks.plots import plot
from citeloop.evaluation.bootstrap import Estimate, Ratio, estimate
from citeloop.evaluation.question_metrics import measure as figures_of
from citeloop.evaluation.run import RunOptions, run_evaluation
from citeloop.evaluation.scoring import RECALL_DEPTHS, QuestionScore
from citeloop.evaluation.selection import Selection
from citeloop.settings import Settings
from citeloop.state.config import RAGConfig, StrategyChoice

BASELINE: StrategyChoice = "standard"
SETS: Mapping[str, Selection] = {
    "twowiki": Selection(),
    "hotpot100": Selection(),
    "musique100": Selection(),
    "squad2": Selection(),
    "xquad": Selection(corpora=("xquad-en",), where=(("lang", "en"),)),
    "clapnq": Selection(),
    "mtragun": Selection(own_corpus=True),
    "qmsum": Selection(own_corpus=True),
}
EVALS = Path(__file__).parent.parent / "evals"


class Measured(NamedTuple):
    """One strategy on one set."""

    recall: Estimate
    gain: Estimate
    """Of recall over ``BASELINE``, paired."""
    answer_hit: Estimate | None
    p50_ms: float
    ran: Counter[str]
    """The strategies that ran, which ``auto`` chooses."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Where the sets are, and how much of them is asked."""

    sets: Path
    cache: Path
    limit: int | None

    def ask(self, name: str, strategy: StrategyChoice) -> list[QuestionScore]:
        """The scored questions of one set that have gold documents, asked with one strategy."""
        selection = SETS[name]
        options = RunOptions(
            set_dir=self.sets / name,
            selection=Selection(selection.corpora, selection.own_corpus, selection.where, limit=self.limit),
            config=RAGConfig(strategy=strategy, max_correction_rounds=0),
            cache=self.cache,
        )
        _, scores = run_evaluation(options, Settings(), Console(stderr=True))
        return [score for score in scores if score.question.gold_doc_ids]


def measure(scores: Sequence[QuestionScore], baseline: Sequence[QuestionScore]) -> Measured:
    """Figures of one strategy beside those of ``BASELINE`` on the same questions."""
    recall, before = _recall(scores), _recall(baseline)
    figures = estimate({"gain": Ratio(recall - before, np.ones(len(scores)))}, len(scores))
    figures |= figures_of(scores, {"recall@5", "answer_hit"})
    assert figures["recall@5"] and figures["gain"]
    latency = statistics.median(score.latency_ms for score in scores if score.latency_ms)
    ran = Counter(score.response.strategy_used.value for score in scores if score.response)
    return Measured(figures["recall@5"], figures["gain"], figures["answer_hit"], latency, ran)


def write_table(path: Path, table: Mapping[str, Mapping[str, Measured]], limit: int | None) -> None:
    """One Markdown table a set."""
    asked = f"`--limit {limit}`" if limit else "all questions with gold documents"
    parts = [
        "# Strategies\n\n"
        f"Made by `python benchmarks/strategy_table.py DIR`: offline, no correction rounds, {asked}; recall@5 with 95% "
        "bootstrap intervals, its difference to `standard` paired by question.\n\n![recall@5](strategies.svg)\n"
    ]
    for name, rows in table.items():
        parts.append(
            f"## {name}, {next(iter(rows.values())).recall.n} questions\n\n"
            "| strategy | recall@5 | against standard | answer hit | median ms |\n| --- | --- | --- | --- | --- |\n"
            + "".join(f"| {strategy} | {_row(measured)} |\n" for strategy, measured in rows.items())
            + (f"\n`auto` ran {_shares(rows['auto'].ran)}.\n" if "auto" in rows else "")
        )
    path.write_text("\n".join(parts), encoding="utf-8")


def draw(path: Path, table: Mapping[str, Mapping[str, Measured]]) -> None:
    """Recall@5 of each strategy, set by set, with its interval."""
    strategies = list(dict.fromkeys(strategy for rows in table.values() for strategy in rows))
    with plot(path, width=2 + 1.1 * len(table), height=4) as axes:
        for place, strategy in enumerate(strategies):
            shift = (place - (len(strategies) - 1) / 2) * 0.8 / len(strategies)
            at = [number + shift for number, rows in enumerate(table.values()) if strategy in rows]
            figures = [rows[strategy].recall for rows in table.values() if strategy in rows]
            values = np.array([100 * figure.value for figure in figures])
            reach = np.array([[100 * (f.value - f.low), 100 * (f.high - f.value)] for f in figures]).T
            axes.errorbar(at, values, yerr=reach, fmt="osD^vPX*<>"[place % 10], markersize=4, lw=0.8, label=strategy)
        axes.set_xticks(range(len(table)), list(table))
        axes.set_ylabel("recall@5, percent")
        axes.legend(ncols=3, fontsize=7, loc="lower left")


def _recall(scores: Iterable[QuestionScore]) -> np.ndarray:
    return np.array([score.retrieval.recall[RECALL_DEPTHS.index(5)] if score.retrieval else 0.0 for score in scores])


def _row(measured: Measured) -> str:
    hit = _shown(measured.answer_hit) if measured.answer_hit else "-"
    return f"{_shown(measured.recall)} | {_shown(measured.gain, sign='+')} | {hit} | {measured.p50_ms:.0f}"


def _shares(ran: Counter[str]) -> str:
    return ", ".join(f"`{strategy}` {times / ran.total():.0%}" for strategy, times in ran.most_common())


def _shown(figure: Estimate, sign: str = "") -> str:
    return f"{100 * figure.value:{sign}.1f} ({100 * figure.low:{sign}.1f} to {100 * figure.high:{sign}.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/citeloop/eval").expanduser())
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--strategies", nargs="+", choices=get_args(StrategyChoice), default=get_args(StrategyChoice))
    parser.add_argument("--out", type=Path, default=EVALS, help="folder of the table and the plot")
    options = parser.parse_args()
    bench = Bench(options.dir, options.cache, options.limit)
    strategies = [BASELINE, *(one for one in options.strategies if one != BASELINE)]
    table: dict[str, dict[str, Measured]] = {}
    for name in options.sets:
        baseline = bench.ask(name, BASELINE)
        table[name] = {s: measure(baseline if s == BASELINE else bench.ask(name, s), baseline) for s in strategies}
        write_table(options.out / "strategies.md", table, options.limit)
    draw(options.out / "strategies.svg", table)


if __name__ == "__main__":
    main()
