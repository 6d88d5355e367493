"""``citeloop corpora``."""

import json
from dataclasses import asdict

import click

from citeloop.settings import Settings


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a corpus.")
@click.pass_obj
def corpora(settings: Settings, as_json: bool) -> None:
    """List the corpora that are open to you."""
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
