"""``citeloop index --relations``: what is sent, how far it is, and what it cost."""

from typing import TYPE_CHECKING

import click

from citeloop.commands.progress_bar import progress_bar
from citeloop.settings import Settings

if TYPE_CHECKING:
    from citeloop.knowledge.relation_indexer import RelationIndexer
    from citeloop.knowledge.relation_report import RelationReport


def read_relations(indexer: "RelationIndexer", corpus: str, settings: Settings) -> "RelationReport":
    """Read what was not read yet; on stderr first how many chunks are sent, then a bar, then what failed."""
    from citeloop.state.models import UserContext

    with progress_bar("relations") as bar:
        task = bar.add_task("", total=None, count=0)

        def show(now: "RelationReport") -> None:
            if not now.chunks:
                told = (
                    f"relations: {now.to_read} {_chunks(now.to_read)} to read with {settings.chat_model}, a call each"
                )
                bar.console.print(told, markup=False, highlight=False, soft_wrap=True)
            tokens = f"{now.tokens_in} tokens in, {now.tokens_out} out"
            bar.update(task, completed=now.chunks, total=now.to_read, count=now.relations, description=tokens)

        report = indexer.read(corpus, UserContext(), calls=settings.chat_calls, progress=show)
    for reason, chunks in report.failures.items():
        click.echo(f"not read: {chunks} {_chunks(chunks)}, tried again by the next run: {reason}", err=True)
    return report


def told_relations(report: "RelationReport") -> str:
    """The report in one line."""
    return (
        f"{report.corpus}: {report.relations} relations in {report.chunks} {_chunks(report.chunks)}, "
        f"{report.failed} failed; {report.chunks} calls, {report.tokens_in} tokens in, {report.tokens_out} out, "
        f"{report.seconds:.1f} s"
    )


def _chunks(number: int) -> str:
    return "chunk" if number == 1 else "chunks"
