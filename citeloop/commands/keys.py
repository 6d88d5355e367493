"""``citeloop keys create``, ``list`` and ``revoke``."""

import json
from dataclasses import asdict

import click

from citeloop.governance.api_keys import MAX_DAYS, ApiKey, ApiKeys
from citeloop.settings import Settings


@click.group()
def keys() -> None:
    """API keys of the people who may ask this machine's server. With the first one, nobody gets in without."""


@keys.command()
@click.option("--user", required=True, metavar="ID", help="Whose key it is.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="A group of theirs; repeat for several.")
@click.option(
    "--expires", "days", type=click.IntRange(1, MAX_DAYS), metavar="DAYS", help="Days it lives [default: for ever]."
)
@click.option("--name", default="", metavar="LABEL", help="What it is for; shown by `list`.")
@click.option("--json", "as_json", is_flag=True, help="Print key and row as JSON.")
@click.pass_obj
def create(settings: Settings, user: str, groups: tuple[str, ...], days: int | None, name: str, as_json: bool) -> None:
    """Make a key and print it, this once: only its hash is kept.

    Its holder sends it as `x-api-key`, or as `Authorization: Bearer`.
    """
    key = ApiKeys(settings.home).create(user, groups, name=name, days=days)
    if as_json:
        click.echo(json.dumps({"key": key.text, **_told(key.row)}, ensure_ascii=False))
        return
    click.echo(key.text)
    click.echo(f"note: key {key.row.id} of {user} is shown this once; keep it where secrets are kept", err=True)


@keys.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a key.")
@click.pass_obj
def list_rows(settings: Settings, as_json: bool) -> None:
    """Show all keys, revoked ones too, without their secrets."""
    rows = ApiKeys(settings.home).rows()
    if not rows:
        click.echo("no key yet; `citeloop keys create --user ID` makes one", err=True)
    for row in rows:
        click.echo(json.dumps(_told(row), ensure_ascii=False) if as_json else _line(row))


@keys.command()
@click.argument("key_id", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="Print the row as JSON.")
@click.pass_context
def revoke(ctx: click.Context, key_id: str, as_json: bool) -> None:
    """Make the key ID worthless, from the next request on; exit 1 if there is none."""
    row = ApiKeys(ctx.obj.home).revoke(key_id)
    if row is None:
        click.echo(f"citeloop: no key has the id {key_id!r}; `citeloop keys list` shows the ids", err=True)
        ctx.exit(1)
    click.echo(json.dumps(_told(row), ensure_ascii=False) if as_json else _line(row))


def _told(row: ApiKey) -> dict[str, object]:
    return {**asdict(row), "state": row.state}


def _line(row: ApiKey) -> str:
    groups = f" ({', '.join(row.groups)})" if row.groups else ""
    until = f", until {row.expires_at}" if row.expires_at else ""
    label = f"  {row.name}" if row.name else ""
    return f"{row.id}  {row.state:<7}  {row.user_id}{groups}, made {row.created_at}{until}{label}"
