"""``citeloop index``."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citeloop.commands.progress_bar import progress_bar
from citeloop.commands.relations import read_relations, told_relations
from citeloop.settings import Settings

if TYPE_CHECKING:
    from citeloop.engine import RAGQueryEngine
    from citeloop.knowledge.index_report import IndexReport


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--corpus", required=True, metavar="NAME", help="Corpus to fill; made if it is not there.")
@click.option("--prune", is_flag=True, help="Remove documents from under PATHS whose file is gone.")
@click.option(
    "--relations", is_flag=True, help="Then read relations between entities with the chat model, one call a chunk."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_obj
def index(
    settings: Settings, paths: tuple[Path, ...], corpus: str, prune: bool, relations: bool, as_json: bool
) -> None:
    """Load, cut, embed and store the files at and under PATHS: Markdown, plain text, HTML, JSONL.

    Run again, it does only what changed. A file that cannot be read is reported and skipped.

    With --relations a chat model (OPENAI_API_KEY, OPENAI_BASE_URL) reads who or what is related to whom, and how, in
    each chunk of the corpus that it has not read yet; the strategy graph walks along that. What it cost is told.
    """
    from citeloop.engine import open_engine

    engine = open_engine(settings=settings)
    relation_indexer = engine.relation_indexer if relations else None  # without a chat model, fail before any work
    report = _index(engine, paths, corpus, prune)
    for line in report.skipped:
        click.echo(f"skipped {line}", err=True)
    if engine.reranker.name != engine.config.reranker_model:
        wanted, used = engine.config.reranker_model, engine.reranker.name
        click.echo(f"note: the reranker {wanted} is not on this machine; {used} stands in", err=True)
    if relation_indexer is None:
        click.echo(json.dumps(asdict(report), ensure_ascii=False) if as_json else _told(report))
        return
    if not as_json:
        click.echo(_told(report))
    read = read_relations(relation_indexer, corpus, settings)
    told = {**asdict(report), "relations": asdict(read)}
    click.echo(json.dumps(told, ensure_ascii=False) if as_json else told_relations(read))


def _index(engine: "RAGQueryEngine", paths: tuple[Path, ...], corpus: str, prune: bool) -> "IndexReport":
    from citeloop.knowledge.index_report import IndexProgress
    from citeloop.state.models import UserContext

    with progress_bar("chunks") as bar:
        task = bar.add_task("", total=None, count=0)

        def show(now: IndexProgress) -> None:
            bar.update(task, completed=now.documents, total=now.total, count=now.chunks, description=now.current[-60:])

        return engine.indexer.index(paths, corpus, UserContext(), prune=prune, progress=show)


def _told(report: "IndexReport") -> str:
    return (
        f"{report.corpus}: {report.added} added, {report.replaced} replaced, {report.unchanged} unchanged, "
        f"{report.removed} removed, {len(report.skipped)} skipped; {report.chunks} chunks in {report.seconds:.1f} s"
    )
