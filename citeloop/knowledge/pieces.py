"""A document cut into what is stored of it: sections, chunks, sentences, and what search sees of each."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citeloop.knowledge.chunking import cut_document
from citeloop.knowledge.document import ChunkDraft, LoadedDocument, SectionDraft
from citeloop.text.sentences import Span, split_sentences

CUTTING = 1
"""Raised when chunks, sentences or ``indexed_text`` come out differently: the next run then replaces every document."""


@dataclass(frozen=True, slots=True)
class DocumentPieces:
    """A document ready to be embedded. Per chunk: its text and the spans of its sentences within that text."""

    document: LoadedDocument
    source_file: str
    content_hash: str
    sections: Sequence[SectionDraft]
    chunks: Sequence[ChunkDraft]
    texts: Sequence[str]
    sentences: Sequence[Sequence[Span]]

    def chunk_texts(self) -> Iterator[str]:
        """What is embedded for each chunk."""
        for chunk, text in zip(self.chunks, self.texts, strict=True):
            yield indexed_text(self.document.title, self.sections[chunk.section].heading_path, text)

    def sentence_texts(self) -> Iterator[str]:
        """What is embedded for each sentence of each chunk: the sentence itself."""
        for text, spans in zip(self.texts, self.sentences, strict=True):
            yield from (text[start:end] for start, end in spans)


def cut_into_pieces(document: LoadedDocument, source_file: str, content_hash: str) -> DocumentPieces:
    """Cut along the document's structure; the same document gives the same pieces."""
    sections, chunks = cut_document(document)
    texts = [document.text[chunk.start : chunk.end] for chunk in chunks]
    sentences = [split_sentences(text) for text in texts]
    return DocumentPieces(document, source_file, content_hash, sections, chunks, texts, sentences)


def indexed_text(title: str, heading_path: Sequence[str], text: str) -> str:
    """What both search indexes see of a chunk: title and headings, which its text relies on, then the text itself."""
    headings = heading_path[1:] if heading_path and heading_path[0] == title else heading_path
    return "\n".join((" > ".join((title, *headings)), text))


def hash_content(document: LoadedDocument) -> str:
    """Changes with anything that changes what is stored of the document.

    Raises:
        UnicodeEncodeError: the text holds half a surrogate pair, which no file and no model can take.
    """
    content = repr((CUTTING, document.title, document.media_type, document.headings, document.blocks))
    return hashlib.sha256(content.encode() + b"\0" + document.text.encode()).hexdigest()
