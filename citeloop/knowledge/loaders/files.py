"""Which files lie under the paths given, and what to call them."""

import os.path
from collections.abc import Iterable, Iterator
from pathlib import Path

from citeloop.errors import InvalidRequest


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files at and under ``paths``: depth first, by name, each once, also when paths overlap or links meet.

    Hidden files and folders are passed over unless they are given themselves; links are followed, loops are not. A
    folder that cannot be listed comes back as itself, so that loading it reports why.

    Raises:
        InvalidRequest: a path does not exist. Raised before anything is found: a mistyped folder must not look empty.
    """
    starts = list(paths)
    for path in starts:
        if not path.exists():
            raise InvalidRequest(f"no file or folder at {path}; check the path")
    return _walk(starts)


def document_uri(path: Path, root: Path) -> str:
    """``path`` relative to ``root`` with forward slashes; the whole path where it lies elsewhere.

    Bytes of a file name that are not UTF-8 are written as ``\\xNN``: a uri can be stored and printed anywhere.
    """
    relative = path.relative_to(root) if path.is_relative_to(root) and path != root else path
    return relative.as_posix().encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _walk(starts: list[Path]) -> Iterator[Path]:
    seen: set[str] = set()
    pending = starts[::-1]
    while pending:
        path = pending.pop()
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        children = _visible_children(path) if path.is_dir() else None
        if children is None:
            yield path
        else:
            pending.extend(reversed(children))


def _visible_children(folder: Path) -> list[Path] | None:
    try:
        return sorted(child for child in folder.iterdir() if not child.name.startswith("."))
    except OSError:
        return None
