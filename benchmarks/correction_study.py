"""What the correction loop and the claim policies do to answers whose every sentence is known to be true or false.

    python benchmarks/correction_study.py [--questions 300] [--houses 60] [--seed 2] [--misses FILE.jsonl] [--out evals]

A world of our own making (``planted_facts``) is indexed for real and asked about through the real engine, offline; only
the chat model is scripted: it errs at set rates (``planted_errors``), anew in each round or, half the time, in the same
way again. ``--seed`` makes the world, the questions and the faults: 1 is there to be looked at while the engine is
changed, 2 to be scored on. Writes ``correction.md`` and ``correction.svg`` into ``--out``.
"""

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.planted_errors import FALSE, ErringModel, Label, Rates, Sentence
from benchmarks.planted_facts import Asked, make_questions, make_world
from citeloop.engine import RAGQueryEngine, open_engine
from citeloop.evaluation.bootstrap import Estimate, Quantile, Ratio, Statistic, estimate
from citeloop.settings import Settings
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse, UserContext
from citeloop.testing import ScriptedChatModel

EVALS = Path(__file__).parent.parent / "evals"
LOOPS: Mapping[str, dict[str, Any]] = {
    "unchecked": {"claim_policy": "off", "max_correction_rounds": 0},
    "loop off": {"claim_policy": "annotate", "max_correction_rounds": 0},
    "loop on": {"claim_policy": "annotate"},
    "strict, loop off": {"claim_policy": "strict", "max_correction_rounds": 0},
    "strict": {"claim_policy": "strict"},
}
FIGURES = {
    "false": "false claims returned, % of claims",
    "unbacked": "true ones without their source, %",
    "unmarked": "false and not marked, %",
    "lost": "true claims of the draft lost, %",
    "asked": "asked for and told truly, %",
    "answered": "answered, %",
    "rounds": "correction rounds, mean",
    "ms": "ms, median",
}


class Returned(NamedTuple):
    """One question: the draft that was returned, and which of its sentences, by position, with which verdict."""

    asked: Asked
    draft: Sequence[Sentence]
    verdicts: Mapping[int, str]
    answered: bool
    rounds: int
    ms: float


def ask(engine: RAGQueryEngine, model: ErringModel, asked: Asked, config: RAGConfig) -> Returned:
    """Ask one question, and find the sentences of the answer among those that the model wrote for it."""
    model.drafts.pop(asked.question, None)
    begun = time.perf_counter()
    response = engine.query(asked.question, access_reason="correction study", config=config)
    ms = 1000 * (time.perf_counter() - begun)
    draft = _returned_draft(response, model.drafts.get(asked.question, []))
    return Returned(
        asked, draft, _verdicts(response, draft), response.status != "no_evidence", response.correction_rounds, ms
    )


def _returned_draft(response: RAGResponse, drafts: Sequence[Sequence[Sentence]]) -> Sequence[Sentence]:
    """Every draft has a round in the trace, in the same order; of a refusal before any draft there is none."""
    numbers = [told["round"] for told in response.trace["rounds"]]
    by_round: dict[int, Sequence[Sentence]] = dict(zip(numbers, drafts, strict=True))
    return by_round.get(response.trace["returned_round"], ())


def _verdicts(response: RAGResponse, draft: Sequence[Sentence]) -> dict[int, str]:
    """Of the sentences that stand in the answer, by position; one without a verdict is one that nothing marks."""
    told = {claim.text: claim.verdict for claim in response.claims}
    stands = (number for number, sentence in enumerate(draft) if sentence.text.removesuffix(".") in response.answer)
    return {number: told.get(draft[number].text, "supported") for number in stands}


def figures(results: Sequence[Returned]) -> dict[str, Estimate | None]:
    """The figures of one way to run the loop, with intervals over questions."""

    def count(holds: Callable[[Sentence], bool], verdicts: Iterable[str] = ()) -> np.ndarray:
        """How many returned sentences of each question hold so, with any of ``verdicts``."""
        wanted = set(verdicts)
        return np.array(
            [
                sum(holds(r.draft[n]) for n, verdict in r.verdicts.items() if not wanted or verdict in wanted)
                for r in results
            ],
            float,
        )

    def is_true(sentence: Sentence) -> bool:
        return sentence.label == "true"

    returned = count(lambda _: True)
    drafted_true = np.array([sum(map(is_true, r.draft)) for r in results], float)
    asked = np.array([len(r.asked.facts) for r in results], float)
    statistics: dict[str, Statistic] = {
        "false": Ratio(count(lambda s: s.label in FALSE), returned),
        "unbacked": Ratio(count(lambda s: s.label in ("miscited", "uncited")), returned),
        "unmarked": Ratio(count(lambda s: s.label in FALSE, ["supported"]), returned),
        "lost": Ratio(drafted_true - count(is_true), drafted_true),
        "asked": Ratio(count(is_true), asked),
        "answered": Ratio(np.array([r.answered for r in results], float), np.ones(len(results))),
        "rounds": Ratio(np.array([r.rounds for r in results], float), np.ones(len(results))),
        "ms": Quantile(np.array([r.ms for r in results]), 0.5),
    }
    return estimate(statistics, len(results))


def misses(results: Iterable[Returned]) -> list[dict[str, str]]:
    """Sentences whose verdict is not what they are."""
    return [
        {"question": r.asked.question, "text": sentence.text, "label": sentence.label, "verdict": verdict}
        for r in results
        for number, sentence in enumerate(r.draft)
        if (sentence.label == "true") != ((verdict := r.verdicts.get(number, "taken out")) == "supported")
    ]


def run(home: Path, questions: int, houses: int, rates: Rates, seed: int) -> dict[str, list[Returned]]:
    """Every way to run the loop over the same questions and the same faults."""
    world = make_world(houses, seed)
    asked = make_questions(world, questions, seed)
    model = ErringModel(asked, rates, seed)
    llm = ScriptedChatModel(replies=model.reply)
    results: dict[str, list[Returned]] = {}
    for name, changes in LOOPS.items():
        config = RAGConfig(strategy="standard", **changes)
        engine = open_engine(home, settings=Settings(), llm=llm, config=config)
        engine.indexer.index([world.write(home / "pages")], "houses", UserContext())  # again: nothing has changed
        results[name] = [ask(engine, model, one, config) for one in asked]
        engine.close()
    return results


def write_table(path: Path, results: Mapping[str, Sequence[Returned]], rates: Rates, seed: int) -> None:
    """A Markdown table: a row for each figure, a column for each way to run the loop."""
    table = {name: figures(of_one) for name, of_one in results.items()}
    questions = len(next(iter(results.values())))
    rows = [
        f"| {title} | " + " | ".join(_shown(of_one[key], key) for of_one in table.values()) + " |"
        for key, title in FIGURES.items()
    ]
    path.write_text(
        "# The correction loop over planted errors\n\n"
        f"Made by `python benchmarks/correction_study.py --questions {questions} --seed {seed}`; 95% bootstrap"
        " intervals over questions. Seed 1 was looked at while the study was written; nothing was tuned on this seed."
        f" Of the sentences that the model writes, {_planted(results)}; a fault comes again in the next round with "
        f"probability {rates.persistent}.\n\n"
        f"| | {' | '.join(table)} |\n|{' --- |' * (1 + len(table))}\n"
        + "\n".join(rows)
        + "\n\n![False claims returned, and true ones told](correction.svg)\n",
        encoding="utf-8",
    )


def draw(path: Path, results: Mapping[str, Sequence[Returned]]) -> None:
    """False claims returned against facts told truly, one point for each way to run the loop."""
    from benchmarks.plots import plot  # the study itself runs without matplotlib, as in the tests

    with plot(path, width=6, height=4) as axes:
        for place, (name, of_one) in enumerate(results.items()):
            found = figures(of_one)
            wrong, right = found["false"], found["asked"]
            if not (wrong and right):
                continue
            x, y = 100 * wrong.value, 100 * right.value
            reach_x = [[x - 100 * wrong.low], [100 * wrong.high - x]]
            reach_y = [[y - 100 * right.low], [100 * right.high - y]]
            axes.errorbar([x], [y], xerr=reach_x, yerr=reach_y, fmt="osD^v"[place], markersize=5, lw=0.8, label=name)
        axes.axvline(2, lw=0.8, ls=":", color="black")
        axes.set_xlim(left=0)
        axes.set_xlabel("false claims, percent of the claims returned (dotted: wanted at most)")
        axes.set_ylabel("facts asked for and told truly, percent")
        axes.legend(fontsize=8)


def _planted(results: Mapping[str, Sequence[Returned]]) -> str:
    labels = Counter(s.label for r in results["loop off"] for s in r.draft)
    names: dict[Label, str] = {
        "changed": "have a changed value",
        "invented": "are invented",
        "miscited": "true with a wrong [n]",
    }
    names |= {"uncited": "true with none"}
    return ", ".join(f"{labels[key] / labels.total():.1%} {words}" for key, words in names.items())


def _shown(figure: Estimate | None, key: str) -> str:
    if figure is None:
        return "-"
    scale, digits = {"ms": (1, 0), "rounds": (1, 2)}.get(key, (100, 1))
    return f"{scale * figure.value:.{digits}f} ({scale * figure.low:.{digits}f} - {scale * figure.high:.{digits}f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--houses", type=int, default=60)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--misses", type=Path, help="write the sentences that were judged wrongly, one JSON a line")
    parser.add_argument("--out", type=Path, default=EVALS, help="folder of the table and the plot")
    options = parser.parse_args()
    rates = Rates()
    with tempfile.TemporaryDirectory() as home:
        results = run(Path(home), options.questions, options.houses, rates, options.seed)
    write_table(options.out / "correction.md", results, rates, options.seed)
    draw(options.out / "correction.svg", results)
    if options.misses:
        lines = (json.dumps({"loop": name, **miss}) for name, of_one in results.items() for miss in misses(of_one))
        options.misses.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
