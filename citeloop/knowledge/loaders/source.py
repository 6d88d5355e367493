"""What every loader is given, and what they share."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from citeloop.knowledge.document import LoadedDocument

_TITLE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file about to be loaded."""

    path: Path
    uri: str
    on_skip: Callable[[str], None]
    """Told of parts that are left out, one line each."""

    @property
    def title(self) -> str:
        """What a document without a title of its own is called; of the uri, as a file name need not be Unicode."""
        return clean_title(PurePosixPath(self.uri).stem)


Loader: TypeAlias = Callable[[SourceFile], Iterator[LoadedDocument]]
"""Yields the file's documents, none for a blank file; raises LoadError or OSError."""


def clean_title(text: str) -> str:
    """``text`` on one line, cut at 200 characters: titles and headings stand before each chunk that is embedded."""
    title = re.sub(r"\s+", " ", text).strip()
    return title if len(title) <= _TITLE_LENGTH else title[: _TITLE_LENGTH - 1].rstrip() + "…"
