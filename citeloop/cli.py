"""The command line: ``citeloop --help`` is the manual.

Exit codes: 0 done, 1 the request failed, 2 bad usage. Results go to stdout, everything else to stderr; an error is one
line that says what to do next. Each command imports what it needs when it runs.
"""

import sys
from importlib import import_module

import click

from citeloop.errors import CiteloopError

_COMMANDS = {
    "index": "citeloop.commands.index",
    "ask": "citeloop.commands.ask",
    "query": "citeloop.commands.ask",
    "corpora": "citeloop.commands.corpora",
    "audit": "citeloop.commands.audit",
    "eval": "citeloop.evaluation.command",
    "graph": "citeloop.commands.graph",
}


class _LazyGroup(click.Group):
    """Loads the module of a command when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(_COMMANDS[cmd_name]), cmd_name)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--home", envvar="CITELOOP_HOME", metavar="DIR", help="Folder of the stores [default: ~/.citeloop].")
@click.version_option(package_name="citeloop")
@click.pass_context
def cli(ctx: click.Context, home: str | None) -> None:
    """Ask your documents; every claim is cited, every citation is checked.

    \b
    citeloop index ./handbook --corpus handbook
    citeloop ask "How many days of parental leave are there?"
    """
    ctx.obj = home


def main() -> None:
    """Run the command line; a mistake or a failed request is one line on stderr, never a traceback."""
    try:
        sys.exit(cli(standalone_mode=False))  # click returns the code of `ctx.exit`
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(1)
    except CiteloopError as error:
        click.echo(f"citeloop: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)


if __name__ == "__main__":
    main()
