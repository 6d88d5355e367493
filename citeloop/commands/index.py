"""``citeloop index``."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citeloop.settings import Settings

if TYPE_CHECKING:
    from rich.progress import Progress

    from citeloop.knowledge.index_report import IndexReport


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--corpus", required=True, metavar="NAME", help="Corpus to fill; made if it is not there.")
@click.option("--prune", is_flag=True, help="Remove documents from under PATHS whose file is gone.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def index(settings: Settings, paths: tuple[Path, ...], corpus: str, prune: bool, as_json: bool) -> None:
    """Load, cut, embed and store the files at and under PATHS: Markdown, plain text, HTML, JSONL.

    Run again, it does only what changed. A file that cannot be read is reported and skipped.
    """
    from citeloop.engine import open_engine
    from citeloop.knowledge.index_report import IndexProgress
    from citeloop.state.models import UserContext

    engine = open_engine(settings=settings)
    with _progress_bar() as bar:
        task = bar.add_task("", total=None, chunks=0)

        def show(now: IndexProgress) -> None:
            bar.update(task, completed=now.documents, total=now.total, chunks=now.chunks, description=now.current[-60:])

        report = engine.indexer.index(paths, corpus, UserContext(), prune=prune, progress=show)
    for line in report.skipped:
        click.echo(f"skipped {line}", err=True)
    if engine.reranker.name != engine.config.reranker_model:
        wanted, used = engine.config.reranker_model, engine.reranker.name
        click.echo(f"note: the reranker {wanted} is not on this machine; {used} stands in", err=True)
    click.echo(json.dumps(asdict(report), ensure_ascii=False) if as_json else _told(report))


def _progress_bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[chunks]} chunks"),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),  # a file's name is not markup
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _told(report: "IndexReport") -> str:
    return (
        f"{report.corpus}: {report.added} added, {report.replaced} replaced, {report.unchanged} unchanged, "
        f"{report.removed} removed, {len(report.skipped)} skipped; {report.chunks} chunks in {report.seconds:.1f} s"
    )
