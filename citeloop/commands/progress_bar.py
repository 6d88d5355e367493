"""The progress bar of commands that take their time."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


def progress_bar(counted: str) -> "Progress":
    """A bar on stderr, gone at the end, for tasks with a field ``count`` of what is ``counted``; none without a
    terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{{task.fields[count]}} {counted}"),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),  # a file's name is not markup
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
