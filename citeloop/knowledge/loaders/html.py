"""HTML: the visible text, with its headings, lists, tables and listings. Offsets point into that text."""

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.loaders.decoding import decode_text
from citeloop.knowledge.loaders.page_text import PageText
from citeloop.knowledge.loaders.source import SourceFile, clean_title

_DECLARED_ENCODING = re.compile(rb"\b(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_DECLARATION_BYTES = 1024  # as far as the HTML standard looks
_DROPPED = frozenset(
    {"head", "script", "style", "noscript", "template", "nav", "svg", "iframe", "object", "canvas", "audio", "video"}
    | {"map", "select", "datalist", "button", "textarea", "rt", "rp", "-comment", "-doctype"}
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LAYOUT_CONTENT = "table :is(table, h1, h2, h3, h4, h5, h6, ul, ol, dl, pre)"


def load_html(source: SourceFile) -> Iterator[LoadedDocument]:
    """One document, unless nothing is visible. Title: ``<title>``, else the first top heading, else the file name."""
    data = source.path.read_bytes()
    declared = _DECLARED_ENCODING.search(data, 0, _DECLARATION_BYTES)
    markup = decode_text(data, source.uri, declared.group(1).decode("ascii", "replace") if declared else None)
    tree = LexborHTMLParser(markup)
    page = _visible_text(tree)
    if not page.blocks:
        return
    title = tree.css_first("head > title")
    top_heading = next((heading.title for heading in page.headings if heading.level == 1), "")
    yield LoadedDocument(
        uri=source.uri,
        title=clean_title(title.text() if title else "") or top_heading or source.title,
        text=page.text,
        media_type="text/html",
        headings=tuple(page.headings),
        blocks=tuple(page.blocks),
    )


def _visible_text(tree: LexborHTMLParser) -> PageText:
    page = PageText()
    layout_tables = _layout_tables(tree)
    pending: list[tuple[LexborNode, bool]] = [(tree.root, False)] if tree.root else []
    while pending:  # not recursive: pages nest thousands deep
        node, leaving = pending.pop()
        tag = node.tag or ""
        if tag == "-text":
            page.add_text(node.text_content or "")
        elif leaving:
            page.leave(tag)
        elif tag not in _DROPPED and not _is_hidden(node):
            page.enter("div" if tag == "table" and node.mem_id in layout_tables else tag)
            pending.append((node, True))
            pending.extend(reversed([(child, False) for child in node.iter(include_text=True)]))
    page.finish()
    return page


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("role") == "navigation"
        or bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))
    )


def _layout_tables(tree: LexborHTMLParser) -> set[int]:
    """Tables that arrange a page (they hold headings, lists, other tables): their cells are no rows of data."""
    found: set[int] = set()
    for node in tree.css(_LAYOUT_CONTENT):
        table = node.parent
        while table and table.tag != "table":
            table = table.parent
        if table:
            found.add(table.mem_id)
    return found
