"""``citeloop corpora``."""

import json
from dataclasses import asdict
from pathlib import Path

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a corpus.")
@click.pass_obj
def corpora(home: str | None, as_json: bool) -> None:
    """List the corpora that are open to you."""
    from citeloop.knowledge.store import HierarchicalKnowledgeStore
    from citeloop.settings import Settings
    from citeloop.state.models import UserContext

    store = HierarchicalKnowledgeStore(Path(home).expanduser() if home else Settings().home)
    for corpus in store.open_corpora(None, UserContext()):
        summary = store.corpus_summary(corpus)
        if as_json:
            click.echo(json.dumps(asdict(summary), ensure_ascii=False, default=str))
        else:
            click.echo(
                f"{summary.name}: {summary.documents} documents, {summary.chunks} chunks, {summary.embedding_model}"
            )
