"""``citeloop audit list`` and ``citeloop audit verify``."""

import json
from dataclasses import asdict

import click

from citeloop.governance.audit import AuditRow, audit_log_in
from citeloop.settings import Settings


@click.group()
def audit() -> None:
    """Who asked what, why, and how it ended; who changed whose rights."""


@audit.command("list")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="Newest N rows.")
@click.option("--request", "request_id", metavar="ID", help="Only the rows of this request.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a row.")
@click.pass_obj
def list_rows(settings: Settings, limit: int, request_id: str | None, as_json: bool) -> None:
    """Show the newest rows, newest first."""
    for row in audit_log_in(settings.home).rows(limit, request_id):
        click.echo(json.dumps(asdict(row), ensure_ascii=False) if as_json else _line(row))


@audit.command()
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def verify(ctx: click.Context, as_json: bool) -> None:
    """Check the chain of rows and find questions without an end; exit 1 if the chain is broken."""
    report = audit_log_in(ctx.obj.home).verify()
    if as_json:
        click.echo(json.dumps({**asdict(report), "intact": report.intact}, ensure_ascii=False))
    else:
        state = "the chain holds" if report.intact else f"BROKEN at rows {', '.join(map(str, report.broken_seqs))}"
        click.echo(f"{report.rows} rows, {state}; last hash {report.last_hash}")
        for row in report.unfinished:
            click.echo(f"no end: {_line(row)}")
    ctx.exit(0 if report.intact else 1)


def _line(row: AuditRow) -> str:
    body = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in row.body.items())
    return f"{row.seq:>6} {row.at} {row.request_id} {row.event:<5} {body}"
