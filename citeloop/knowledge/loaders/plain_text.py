"""Plain text: blank lines part its paragraphs."""

from collections.abc import Iterator

from citeloop.knowledge.document import Block, LoadedDocument
from citeloop.knowledge.loaders.decoding import decode_text
from citeloop.knowledge.loaders.source import SourceFile


def load_plain_text(source: SourceFile) -> Iterator[LoadedDocument]:
    """One document, titled by its file name, unless the file is blank."""
    text = decode_text(source.path.read_bytes(), source.uri)
    if not text.isspace() and text:
        yield LoadedDocument(
            uri=source.uri,
            title=source.title,
            text=text,
            media_type="text/plain",
            blocks=split_paragraphs(text),
        )


def split_paragraphs(text: str) -> tuple[Block, ...]:
    """The runs of lines without a blank line between them; linear in the text's length."""
    paragraphs: list[Block] = []
    offset = 0
    after_blank = True
    for line in text.splitlines(keepends=True):
        stripped = line.strip()
        if stripped:
            end = offset + len(line.rstrip())
            start = offset + line.index(stripped) if after_blank else paragraphs.pop().start
            paragraphs.append(Block(start, end))
        after_blank = not stripped
        offset += len(line)
    return tuple(paragraphs)
