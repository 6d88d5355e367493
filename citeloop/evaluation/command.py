"""``citeloop eval``."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click
from typing_extensions import TypedDict, Unpack

from citeloop.state.config import StrategyChoice

if TYPE_CHECKING:
    from citeloop.evaluation.run import RunOptions

_DEFAULT_CACHE = "~/.cache/citeloop/eval"


class _Options(TypedDict):
    set_dir: Path
    corpora: tuple[str, ...]
    own_corpus: bool
    where: tuple[tuple[str, str], ...]
    last_turn: bool
    limit: int | None
    strategy: StrategyChoice
    top_k: int | None
    rounds: int | None
    concurrency: int
    cache: Path
    rows: Path | None
    as_json: bool


def _read_pairs(
    context: click.Context, parameter: click.Parameter, pairs: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    for pair in pairs:
        if not pair.partition("=")[0] or "=" not in pair:
            raise click.BadParameter(f"{pair!r} is no selection; write field=value")
    return tuple((name, value) for name, _, value in (pair.partition("=") for pair in pairs))


_folder = click.Path(path_type=Path, file_okay=False)
_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("set_dir", type=_folder)
@click.option("--corpus", "corpora", multiple=True, metavar="NAME", help="Search this corpus; repeat for several.")
@click.option("--own-corpus", is_flag=True, help="Search each question in the corpus of its own documents.")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", callback=_read_pairs, help="Measure only such rows.")
@click.option("--last-turn", is_flag=True, help="Leave out the turns before a question.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Measure N rows, the same in every run.")
@click.option("--strategy", type=click.Choice(get_args(StrategyChoice)), default="auto", help="How to search.")
@click.option("--top-k", type=click.IntRange(1, 50), metavar="N", help="Passages for the answer.")
@click.option("--rounds", type=click.IntRange(0, 5), metavar="N", help="Correction rounds at the most.")
@click.option("--concurrency", type=click.IntRange(1), default=1, metavar="N", help="Questions at a time.")
@click.option("--cache", type=_folder, envvar="CITELOOP_EVAL_CACHE", default=_DEFAULT_CACHE, help="Keeps the indexes.")
@click.option("--rows", type=_file, metavar="FILE", help="Write one JSON line a question here.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
def eval(**options: Unpack[_Options]) -> None:
    """Measure the engine on the questions, claims or intents with known answers in SET_DIR.

    Every figure comes with its 95% bootstrap interval. The corpora of a set are indexed at the first run and kept.
    Exits with 1 when a question raised an error, with 2 when the set or an option is bad.
    """
    if options["own_corpus"] and options["corpora"]:
        raise click.UsageError("--own-corpus and --corpus exclude each other")

    from rich.console import Console

    from citeloop.evaluation.report import print_report
    from citeloop.evaluation.rows import write_rows
    from citeloop.evaluation.run import run_evaluation
    from citeloop.settings import Settings

    report, scores = run_evaluation(_run_options(options), Settings(), Console(stderr=True))
    if options["rows"]:
        write_rows(options["rows"], scores)
    if options["as_json"]:
        click.echo(report.model_dump_json(indent=2))
    else:
        print_report(report, Console())
    if report.questions and report.questions.errors:
        failed, asked = len(report.questions.errors), report.questions.measured
        click.echo(f"citeloop: {failed} of {asked} questions raised an error; the report lists them", err=True)
        sys.exit(1)


def _run_options(options: _Options) -> "RunOptions":
    from citeloop.evaluation.run import RunOptions
    from citeloop.evaluation.selection import Selection
    from citeloop.state.config import RAGConfig

    given = {"top_k": options["top_k"], "max_correction_rounds": options["rounds"]}
    return RunOptions(
        set_dir=options["set_dir"],
        selection=Selection(
            options["corpora"], options["own_corpus"], options["where"], options["last_turn"], options["limit"]
        ),
        config=RAGConfig.model_validate(
            {"strategy": options["strategy"], **{name: value for name, value in given.items() if value is not None}}
        ),
        cache=options["cache"].expanduser(),
        concurrency=options["concurrency"],
    )
