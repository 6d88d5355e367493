"""``citeloop ask`` and ``citeloop query``."""

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from citeloop.errors import OutputNotWritten, StoreError
from citeloop.settings import Settings
from citeloop.state.config import ClaimPolicy, StrategyChoice
from citeloop.state.models import RAGResponse, UserContext

if TYPE_CHECKING:
    from citeloop.engine import RAGQueryEngine

_STDOUT = "-"


def _in_a_folder(context: click.Context, option: click.Parameter, page: str | None) -> str | None:
    """A page that could not be written is refused before the question is asked."""
    if page not in (None, _STDOUT) and not (folder := Path(page).parent).is_dir():
        raise click.BadParameter(f"there is no folder {str(folder)!r}", context, option)
    return page


_html = click.option(
    "--html",
    "page",
    type=click.Path(dir_okay=False, writable=True, allow_dash=True),
    callback=_in_a_folder,
    metavar="FILE",
    help="Write the answer as a page too, on which each claim shows its source; over FILE, if there is one. "
    "-: to stdout, in place of the text.",
)


@click.command()
@click.argument("question")
@click.option(
    "--corpus", "corpora", multiple=True, metavar="NAME", help="Search this corpus; repeat for several [default: all]."
)
@click.option("--reason", default="", metavar="TEXT", help="Why you ask; kept in the audit log.")
@_html
@click.option("--json", "as_json", is_flag=True, help="Print the whole response as JSON.")
@click.pass_obj
def ask(
    settings: Settings, question: str, corpora: tuple[str, ...], reason: str, page: str | None, as_json: bool
) -> None:
    """Answer QUESTION from the indexed documents, with sources."""
    _require_one_output(page, as_json)
    engine = _open_filled(settings)
    response = engine.simple_query(question, access_reason=reason, corpus_ids=corpora or None)
    _show(engine, response, page, as_json)


@click.command()
@click.argument("question")
@click.option("--reason", required=True, metavar="TEXT", help="Why you ask; kept in the audit log.")
@click.option(
    "--corpus", "corpora", multiple=True, metavar="NAME", help="Search this corpus; repeat for several [default: all]."
)
@click.option(
    "--strategy", type=click.Choice(get_args(StrategyChoice)), default="auto", show_default=True, help="How to search."
)
@click.option(
    "--top-k", type=click.IntRange(1, 200), metavar="N", help="Passages for the answer [default: 3 simple, 10 others]."
)
@click.option("--no-require-citations", is_flag=True, help="Compare claims without a citation with all passages.")
@click.option(
    "--claims",
    type=click.Choice(get_args(ClaimPolicy)),
    help="Mark claims that are not supported (annotate), take them out (strict), or check nothing (off); never weaker "
    "than CITELOOP_CLAIM_POLICY [default: that].",
)
@click.option("--explain", is_flag=True, help="Show on stderr which query found which document.")
@_html
@click.option("--json", "as_json", is_flag=True, help="Print the whole response as JSON.")
@click.pass_obj
def query(
    settings: Settings,
    question: str,
    reason: str,
    corpora: tuple[str, ...],
    strategy: StrategyChoice,
    top_k: int | None,
    no_require_citations: bool,
    claims: ClaimPolicy | None,
    explain: bool,
    page: str | None,
    as_json: bool,
) -> None:
    """Answer QUESTION with a reason on record and a strategy of choice."""
    from citeloop.engine import QueryOptions

    _require_one_output(page, as_json)
    options = QueryOptions(corpus_ids=corpora or None, strategy=strategy, require_citations=not no_require_citations)
    if top_k is not None:
        options["top_k"] = top_k
    if claims is not None:
        options["claim_policy"] = claims
    engine = _open_filled(settings)
    response = engine.query(question, access_reason=reason, **options)
    _show(engine, response, page, as_json)
    if explain:
        from citeloop.commands.explain import print_explanation

        print_explanation(response)


def _open_filled(settings: Settings) -> "RAGQueryEngine":
    from citeloop.engine import open_engine

    engine = open_engine(settings=settings)
    if not engine.store.open_corpora(None, UserContext()):
        raise StoreError(f"nothing is indexed in {settings.home} yet; run `citeloop index PATH --corpus NAME` first")
    return engine


def _require_one_output(page: str | None, as_json: bool) -> None:
    if as_json and page == _STDOUT:
        raise click.UsageError("--json and --html - both go to stdout; name a file for the page")


def _show(engine: "RAGQueryEngine", response: RAGResponse, page: str | None, as_json: bool) -> None:
    if page == _STDOUT:
        click.echo(response.to_html(engine.passages_of(response)))
        return
    _print(response, as_json)
    if page is not None:
        _write(page, response.to_html(engine.passages_of(response)))


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputNotWritten(
            f"{file} was not written ({error.strerror or error}); name another with --html"
        ) from None
    click.echo(f"page written to {file}", err=True)


def _print(response: RAGResponse, as_json: bool) -> None:
    if as_json:
        click.echo(response.model_dump_json(indent=2))
        return
    click.echo(response.to_markdown())
    status, rounds = response.status.replace("_", " "), response.correction_rounds
    click.echo(
        f"\n{status}, confidence {response.confidence:.2f}, strategy {response.strategy_used}, "
        f"{rounds} correction round{'' if rounds == 1 else 's'}, audit id {response.request_id}",
        err=True,
    )
