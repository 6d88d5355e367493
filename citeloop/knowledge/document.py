"""A document between its file and the store."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and where its section begins."""

    level: int
    """1 for the topmost."""
    title: str
    start: int
    """Offset in the document's text of the heading itself."""
    end: int
    """One past the heading's last character (of its underline, where it has one)."""


class Block(NamedTuple):
    """A paragraph, list, table or code listing: ``text[start:end]``, without white space around it."""

    start: int
    end: int
    by_line: bool = False
    """Its lines mean something (code, table rows): when it must be cut, cut it between lines."""


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """What a loader makes of a file (or of one line of a JSONL file).

    ``text`` is what offsets point into: the file's own characters for Markdown and plain text, the visible text for
    HTML, the ``text`` field for JSONL.
    """

    uri: str
    """Stable name within the corpus: path relative to the folder indexed, with ``#doc_id`` for a JSONL line."""
    title: str
    text: str
    media_type: str
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    """Pieces in reading order that a chunk should not cut through if they fit. Text between them counts as a block."""


@dataclass(frozen=True, slots=True)
class SectionDraft:
    """A section of a document; the text before the first heading is a section without heading.

    ``start`` to ``end`` is its whole extent, subsections included: the chunks of a section with all that is under it
    are those within its range, its own chunks those that name it.
    """

    heading_path: tuple[str, ...]
    level: int
    """Level of its heading, from 1; 0 for the text before the first heading."""
    start: int
    end: int
    parent: int | None
    """Index of the parent section in the document's list."""


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it is stored; never crosses a section's border."""

    section: int
    """Index of its section in the document's list."""
    start: int
    end: int
