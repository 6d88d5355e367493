"""``citeloop corpora``: which there are, whose they are, and who may read them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Literal

import click

from citeloop.settings import Settings

if TYPE_CHECKING:
    from citeloop.knowledge.corpus import CorpusSummary, Grant
    from citeloop.knowledge.store import HierarchicalKnowledgeStore


def _checked_name(ctx: click.Context, parameter: click.Parameter, name: str) -> str:
    from citeloop.knowledge.corpus import require_corpus_name

    require_corpus_name(name)
    return name


_corpus = click.argument("name", callback=_checked_name)
_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def _readers(command: Callable[..., None]) -> Callable[..., None]:
    """Options that name principals, given to the command as one list."""

    @click.option("--user", "users", multiple=True, metavar="ID", help="This user; repeat for several.")
    @click.option("--group", "groups", multiple=True, metavar="NAME", help="Members of this group; repeat for several.")
    @click.option("--everyone", is_flag=True, help="Whoever may ask questions at all.")
    @wraps(command)
    def with_readers(
        *arguments: object, users: Sequence[str], groups: Sequence[str], everyone: bool, **options: object
    ) -> None:
        from citeloop.governance.access import EVERYONE

        readers = [*(f"user:{user}" for user in users), *(f"group:{group}" for group in groups)]
        readers += [EVERYONE] if everyone else []
        if not readers:
            raise click.UsageError("Say who: --user ID, --group NAME or --everyone.")
        command(*arguments, readers=list(dict.fromkeys(readers)), **options)

    return with_readers


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a corpus.")
@click.pass_context
def corpora(ctx: click.Context, as_json: bool) -> None:
    """List the corpora that are open to you; show, share and delete them."""
    if ctx.invoked_subcommand is None:
        _list(ctx.obj, as_json)
    elif as_json:
        raise click.UsageError(f"Write --json after {ctx.invoked_subcommand}.")


@corpora.command()
@_corpus
@_json
@click.pass_obj
def show(settings: Settings, name: str, as_json: bool) -> None:
    """Show the corpus NAME: its owner, who else may read it since when and by whom, and what is in it."""
    from citeloop.state.models import UserContext

    store, caller = _store(settings), UserContext()
    summary, grants = store.corpus_summary(store.open_corpus(name, caller)), store.grants(name, caller)
    if as_json:
        _print_json({**asdict(summary), "grants": [asdict(grant) for grant in grants]})
    else:
        click.echo(_page(summary, grants))


@corpora.command()
@_corpus
@_readers
@_json
@click.pass_obj
def grant(settings: Settings, name: str, readers: list[str], as_json: bool) -> None:
    """Let users, groups or everyone read the corpus NAME; only its owner writes it.

    Ids and groups are those that the server's identity provider sends, letter by letter.
    """
    from citeloop.state.models import UserContext

    granted = _store(settings).grant(name, readers, UserContext())
    _tell_change(name, "granted", granted, [reader for reader in readers if reader not in granted], as_json)


@corpora.command()
@_corpus
@_readers
@_json
@click.pass_obj
def revoke(settings: Settings, name: str, readers: list[str], as_json: bool) -> None:
    """Take back what was granted, at once, also in running servers; what was not granted is told, and no error.

    A user may still read by a group, or as everyone does: `citeloop corpora show NAME` has the grants that are left.
    """
    from citeloop.state.models import UserContext

    revoked = _store(settings).revoke(name, readers, UserContext())
    _tell_change(name, "revoked", revoked, [reader for reader in readers if reader not in revoked], as_json)


@corpora.command()
@_corpus
@click.argument("user")
@_json
@click.pass_obj
def owner(settings: Settings, name: str, user: str, as_json: bool) -> None:
    """Make USER the owner of the corpus NAME: who may read, fill, grant and delete it on a server. Grants stay."""
    from citeloop.state.models import UserContext

    _store(settings).set_owner(name, user, UserContext())
    if as_json:
        _print_json({"corpus": name, "owner": user})
    else:
        click.echo(f"{name}: now owned by {user}")


@corpora.command()
@_corpus
@click.option("--yes", is_flag=True, help="Do not ask back.")
@_json
@click.pass_obj
def delete(settings: Settings, name: str, yes: bool, as_json: bool) -> None:
    """Delete the corpus NAME with its documents, vectors, words and grants; its files and the audit log stay."""
    from citeloop.engine import open_engine
    from citeloop.state.models import UserContext

    engine = open_engine(settings=settings)
    summary = engine.store.corpus_summary(engine.store.open_corpus(name, UserContext()))
    if not yes:
        click.confirm(f"Delete {name} with its {summary.documents} documents?", abort=True, err=True)
    engine.indexer.delete_corpus(name, UserContext())
    if as_json:
        _print_json({"corpus": name, "deleted": {"documents": summary.documents, "chunks": summary.chunks}})
    else:
        click.echo(f"{name}: deleted, {summary.documents} documents, {summary.chunks} chunks")


def _list(settings: Settings, as_json: bool) -> None:
    from citeloop.state.models import UserContext

    store = _store(settings)
    opened = store.open_corpora(None, UserContext())
    if not opened:
        click.echo("no corpus yet; `citeloop index PATH --corpus NAME` fills one", err=True)
    for corpus in opened:
        summary = store.corpus_summary(corpus)
        if as_json:
            _print_json(asdict(summary))
        else:
            click.echo(
                f"{summary.name}: {summary.documents} documents, {summary.chunks} chunks, {_relations(summary)}"
                f"{summary.embedding_model}, owner {summary.owner}"
            )


def _relations(summary: "CorpusSummary") -> str:
    return f"{summary.relations} relations, " if summary.relations else ""


def _store(settings: Settings) -> "HierarchicalKnowledgeStore":
    """The store alone, its changes of rights audited: no model is loaded."""
    from citeloop.governance.audit import audit_log_in
    from citeloop.governance.rights_change import record_in
    from citeloop.knowledge.store import HierarchicalKnowledgeStore

    return HierarchicalKnowledgeStore(settings.home, on_rights_change=record_in(audit_log_in(settings.home)))


def _page(summary: "CorpusSummary", grants: "Sequence[Grant]") -> str:
    readers = [f"{grant.principal}, since {grant.granted_at} by {grant.granted_by}" for grant in grants]
    lines = [
        summary.name,
        f"  owner      {summary.owner}",
        *(f"  reader     {reader}" for reader in readers or ["none but the owner"]),
        f"  documents  {summary.documents}",
        f"  chunks     {summary.chunks}",
        f"  relations  {summary.relations}",
        f"  model      {summary.embedding_model}",
        f"  version    {summary.version}, of {summary.updated_at}",
    ]
    return "\n".join(lines)


def _tell_change(
    name: str, change: Literal["granted", "revoked"], changed: list[str], unchanged: list[str], as_json: bool
) -> None:
    if as_json:
        _print_json({"corpus": name, change: changed, "unchanged": unchanged})
        return
    said = ("granted to", "granted before to") if change == "granted" else ("revoked from", "was not granted to")
    parts = zip(said, (changed, unchanged), strict=True)
    click.echo(f"{name}: " + "; ".join(f"{words} {', '.join(readers)}" for words, readers in parts if readers))


def _print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False))
