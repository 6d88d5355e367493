"""The command line: ``citeloop --help`` is the manual.

Exit codes: 0 done, 1 the request failed, 2 bad usage. Results go to stdout, everything else to stderr; an error is one
line that says what to do next. Each command imports what it needs when it runs.
"""

import contextlib
import io
import logging
import os
import sys
import traceback
from importlib import import_module

import click

from citeloop.errors import CiteloopError, InvalidRequest, MissingReason

_log = logging.getLogger("citeloop")

_COMMANDS = {
    "index": "citeloop.commands.index",
    "ask": "citeloop.commands.ask",
    "query": "citeloop.commands.ask",
    "corpora": "citeloop.commands.corpora",
    "audit": "citeloop.commands.audit",
    "keys": "citeloop.commands.keys",
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
@click.option("--home", metavar="DIR", help="Folder of the stores [default: CITELOOP_HOME, else ~/.citeloop].")
@click.version_option(package_name="citeloop")
@click.pass_context
def cli(ctx: click.Context, home: str | None) -> None:
    """Ask your documents; every claim is cited, every citation is checked.

    \b
    citeloop index ./handbook --corpus handbook
    citeloop ask "How many days of parental leave are there?"
    """
    from citeloop.settings import Settings

    ctx.obj = Settings(home=home) if home else Settings()
    _show_log(ctx, ctx.obj.log_level)


def main() -> None:
    """Run the command line; a mistake or a failed request is one line on stderr, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an answer must not be lost to a terminal's character set
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli(prog_name="citeloop", standalone_mode=False)  # click returns the code of `ctx.exit`
    except (Exception, KeyboardInterrupt) as error:
        if _log.isEnabledFor(logging.DEBUG):
            traceback.print_exception(error)
        code = _tell(error)
    sys.exit(code)


def _tell(error: BaseException) -> int:
    """Say on stderr what went wrong; the exit code."""
    match error:
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return 2
        case click.ClickException():
            return _say(f"{error.format_message()} {_manual(error)}", 2)
        case InvalidRequest() | MissingReason():
            return _say(str(error), 2)
        case CiteloopError():
            return _say(str(error), 1)
        case click.Abort() | KeyboardInterrupt():
            return _say("interrupted", 1)
        case BrokenPipeError():  # whoever read our output has seen enough, as `head` does
            _give_stdout_up()
            return 1
    if isinstance(error, OSError):  # a full disk under stdout, perhaps
        _give_stdout_up()
    hint = "run it again with CITELOOP_LOG_LEVEL=DEBUG for the traceback"
    return _say(f"{type(error).__name__}: {error}; {hint}", 1)


def _say(message: str, code: int) -> int:
    click.echo(f"citeloop: {' '.join(message.split())}", err=True)
    return code


def _manual(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"(see `{context.command_path if context else 'citeloop'} --help`)"


def _give_stdout_up() -> None:
    """What stdout could not take is not tried again when the interpreter ends, which would complain a second time."""
    with contextlib.suppress(AttributeError, OSError):  # there may be no stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_log(ctx: click.Context, level: str) -> None:
    """Show our own log on stderr from ``level`` up while a command runs; other libraries stay at their warnings."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s: %(message)s"))
    _log.setLevel(level)
    _log.addHandler(handler)
    ctx.call_on_close(lambda: _log.removeHandler(handler))


if __name__ == "__main__":
    main()
