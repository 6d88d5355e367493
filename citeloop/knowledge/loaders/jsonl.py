"""JSON lines: one document a line, ``{"doc_id": ..., "title": ..., "text": ...}``; other fields are passed over."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from citeloop.errors import UndecodableText
from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.loaders.decoding import mark_encoding
from citeloop.knowledge.loaders.plain_text import split_paragraphs
from citeloop.knowledge.loaders.source import SourceFile, clean_title

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


class _Record(NamedTuple):
    doc_id: str
    title: str
    text: str


class _BadLine(Exception):
    """Why a line gives no document."""


def load_jsonl(source: SourceFile) -> Iterator[LoadedDocument]:
    """The documents of the file, read line by line; a bad line is reported with its number, and the rest stands."""
    seen: set[str] = set()
    try:
        with _open_lines(source) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield from _read_line(source, number, line, seen)
    except UnicodeDecodeError as error:  # UTF-16 or UTF-32 broken off: where the next line begins is lost
        raise UndecodableText(
            f"{source.uri}: broken {error.encoding} text; save it as UTF-8 and index again"
        ) from error


def _open_lines(source: SourceFile) -> TextIO:
    with source.path.open("rb") as file:
        marked = mark_encoding(file.read(4))
    encoding, mark_length = marked or ("utf-8", 0)
    # Bytes that are not UTF-8 become lone surrogates: they spoil their own line only.
    errors = "surrogateescape" if encoding == "utf-8" else "strict"
    lines = source.path.open(encoding=encoding, errors=errors, newline="\n")
    lines.seek(mark_length)
    return lines


def _read_line(source: SourceFile, number: int, line: str, seen: set[str]) -> Iterator[LoadedDocument]:
    try:
        record = _parse_record(line)
        if record.doc_id in seen:
            raise _BadLine(f"doc_id {record.doc_id!r} stood before")
    except _BadLine as reason:
        source.on_skip(f"{source.uri} line {number}: {reason}; left out")
        return
    seen.add(record.doc_id)
    yield LoadedDocument(
        uri=f"{source.uri}#{record.doc_id}",
        title=clean_title(record.title) or record.doc_id,
        text=record.text,
        media_type="application/jsonl",
        blocks=split_paragraphs(record.text),
    )


def _parse_record(line: str) -> _Record:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _BadLine("not JSON") from error
    if not isinstance(fields, dict):
        raise _BadLine("not a JSON object")
    doc_id, title, text = fields.get("doc_id"), fields.get("title") or "", fields.get("text")
    if isinstance(doc_id, int):
        doc_id = str(doc_id)
    if not (isinstance(doc_id, str) and isinstance(title, str) and isinstance(text, str)):
        raise _BadLine("needs doc_id and text, and the title must be text")
    if not doc_id.strip() or not text.strip():
        raise _BadLine("doc_id or text is blank")
    if any(_LONE_SURROGATE.search(value) for value in (doc_id, title, text)):
        raise _BadLine("not valid Unicode")
    return _Record(doc_id, title, text)
