"""Files in, documents out: one module per format, chosen by the file's ending."""

import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from citeloop.errors import EmptyDocument, UnreadableFile, UnsupportedFormat
from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.loaders.files import document_uri, find_files
from citeloop.knowledge.loaders.html import load_html
from citeloop.knowledge.loaders.jsonl import load_jsonl
from citeloop.knowledge.loaders.markdown import load_markdown
from citeloop.knowledge.loaders.plain_text import load_plain_text
from citeloop.knowledge.loaders.source import Loader, SourceFile

_log = logging.getLogger(__name__)

__all__ = ["LOADERS", "document_uri", "find_files", "load_file"]

LOADERS: Mapping[str, Loader] = {
    ".md": load_markdown,
    ".markdown": load_markdown,
    ".txt": load_plain_text,
    ".text": load_plain_text,
    ".html": load_html,
    ".htm": load_html,
    ".xhtml": load_html,
    ".jsonl": load_jsonl,
    ".ndjson": load_jsonl,
}
"""Loader of each file ending, in lower case with its point."""


def load_file(path: Path, root: Path, on_skip: Callable[[str], None] = _log.warning) -> Iterator[LoadedDocument]:
    """The documents of one file, none of them blank; their ``uri`` is the path relative to the folder ``root``.

    ``on_skip`` is told, in one line, of each part that had to be left out while the rest stands (a bad JSONL line).

    Raises:
        LoadError: the file gives no document at all; the message is one line that names the file and the way out.
    """
    source = SourceFile(path=path, uri=document_uri(path, root), on_skip=on_skip)
    try:
        loader = _choose_loader(source)
        blank = True
        for document in loader(source):
            blank = False
            yield document
    except OSError as error:
        raise UnreadableFile(
            f"{source.uri}: cannot be read ({error.strerror or error}); check it and index again"
        ) from error
    if blank:
        raise EmptyDocument(f"{source.uri}: holds no text; nothing to index")


def _choose_loader(source: SourceFile) -> Loader:
    source.path.stat()
    if not source.path.is_file():
        raise UnreadableFile(f"{source.uri}: not a regular file that can be opened; give the document itself")
    suffix = source.path.suffix.lower()
    if suffix not in LOADERS:
        raise UnsupportedFormat(
            f"{source.uri}: no loader for {suffix or 'files without an ending'}; those read are {', '.join(LOADERS)}"
        )
    return LOADERS[suffix]
