"""``citeloop corpora`` and ``citeloop corpora delete``."""

import json
from dataclasses import asdict

import click

from citeloop.settings import Settings


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a corpus.")
@click.pass_context
def corpora(ctx: click.Context, as_json: bool) -> None:
    """List the corpora that are open to you, or delete one."""
    if ctx.invoked_subcommand is None:
        _list(ctx.obj, as_json)


@corpora.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask back.")
@click.pass_obj
def delete(settings: Settings, name: str, yes: bool) -> None:
    """Delete the corpus NAME with its documents, vectors and words; its files and the audit log stay."""
    from citeloop.engine import open_engine
    from citeloop.state.models import UserContext

    engine = open_engine(settings=settings)
    summary = engine.store.corpus_summary(engine.store.open_corpus(name, UserContext()))
    if not yes:
        click.confirm(f"Delete {name} with its {summary.documents} documents?", abort=True, err=True)
    engine.indexer.delete_corpus(name, UserContext())
    click.echo(f"{name}: deleted, {summary.documents} documents, {summary.chunks} chunks")


def _list(settings: Settings, as_json: bool) -> None:
    from citeloop.knowledge.store import HierarchicalKnowledgeStore
    from citeloop.state.models import UserContext

    store = HierarchicalKnowledgeStore(settings.home)
    opened = store.open_corpora(None, UserContext())
    if not opened:
        click.echo("no corpus yet; `citeloop index PATH --corpus NAME` fills one", err=True)
    for corpus in opened:
        summary = store.corpus_summary(corpus)
        if as_json:
            click.echo(json.dumps(asdict(summary), ensure_ascii=False, default=str))
        else:
            click.echo(
                f"{summary.name}: {summary.documents} documents, {summary.chunks} chunks, {summary.embedding_model}"
            )
