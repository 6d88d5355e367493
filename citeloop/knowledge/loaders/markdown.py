"""Markdown (CommonMark with tables): headings and blocks by the parser's own line numbers."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.utils import EnvType

from citeloop.knowledge.document import Block, Heading, LoadedDocument
from citeloop.knowledge.loaders.decoding import decode_text
from citeloop.knowledge.loaders.source import SourceFile, clean_title

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\r?\n"  # YAML or TOML,
    r"(?=[#\w\"'])(.*?)"  # that begins with a key or a comment: else it is a rule above a paragraph
    r"^\1[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_FRONT_MATTER_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*([\"']?)(\S.*?)\1[ \t]*\r?$", re.MULTILINE)
_ATTRIBUTES = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*$")  # "Heading { #its-id }"
_HTML_HEADING = re.compile(r"<h([1-6])\b[^<>]{0,300}>(.{1,500}?)</h\1>", re.DOTALL | re.IGNORECASE)
_HTML_TAG = re.compile(r"<[^<>]*>")
_OPENING_MARKER = re.compile(r"(?:/{3,}|:{3,})[ \t]*[^/:\s][^\r\n]{0,200}")  # "/// note", ":::warning"
_CLOSING_MARKER = re.compile(r"/{3,}|:{3,}")
_LINE_BLOCKS = frozenset({"fence", "code_block", "table_open"})


def load_markdown(source: SourceFile) -> Iterator[LoadedDocument]:
    """One document, unless the file is blank. Title: the first top heading, else that of the front matter, else the
    file name."""
    text = decode_text(source.path.read_bytes(), source.uri)
    if not text.strip():
        return
    front_matter = _FRONT_MATTER.match(text)
    body = front_matter.end() if front_matter else 0
    blocks, headings = _parse_body(text, body)
    if front_matter:
        blocks.insert(0, Block(0, len(front_matter.group().rstrip()), by_line=True))
    declared = _FRONT_MATTER_TITLE.search(front_matter.group(2)) if front_matter else None
    title = next((heading.title for heading in headings if heading.level == 1), declared.group(2) if declared else "")
    yield LoadedDocument(
        uri=source.uri,
        title=clean_title(title) or source.title,
        text=text,
        media_type="text/markdown",
        headings=tuple(headings),
        blocks=tuple(_join_markers(text, blocks)),
    )


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable("inline")  # only headings are read inline, in _heading_title
    return parser


def _parse_body(text: str, body: int) -> tuple[list[Block], list[Heading]]:
    line_starts = [body, *(line_break.end() for line_break in _LINE_BREAK.finditer(text, body)), len(text)]
    references: EnvType = {}
    tokens = _parser().parse(text[body:], references)
    blocks: list[Block] = []
    headings: list[Heading] = []
    for position, token in enumerate(tokens):
        if token.level or not token.map:
            continue
        block = _block_of_lines(text, line_starts, token)
        blocks.append(block)
        if token.type == "heading_open":
            title = _heading_title(tokens[position + 1].content, references)
            headings.append(Heading(int(token.tag[1]), title, block.start, block.end))
        elif token.type == "html_block":
            headings.extend(_html_headings(text, block))
    return blocks, [heading for heading in headings if heading.title]


def _block_of_lines(text: str, line_starts: Sequence[int], token: Token) -> Block:
    first, after = token.map or (0, 0)
    start, end = line_starts[first], line_starts[min(after, len(line_starts) - 1)]
    content = text[start:end]
    start += len(content) - len(content.lstrip())
    return Block(start, start + len(content.strip()), token.type in _LINE_BLOCKS)


def _heading_title(markup: str, references: EnvType) -> str:
    inline: list[Token] = []
    parser = _parser()
    parser.inline.parse(_ATTRIBUTES.sub("", markup), parser, references, inline)
    return clean_title("".join(_visible(token) for token in inline))


def _visible(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "" if token.type == "html_inline" else token.content


def _html_headings(text: str, block: Block) -> Iterator[Heading]:
    for match in _HTML_HEADING.finditer(text, block.start, block.end):
        yield Heading(int(match[1]), clean_title(_HTML_TAG.sub("", match[2])), match.start(), match.end())


def _join_markers(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, with the marker line that opens an admonition joined to the block after it, the one that closes it to
    the block before it."""
    joined: Block | None = None
    after_opening = False
    for block in blocks:
        if joined and (after_opening or _CLOSING_MARKER.fullmatch(text, block.start, block.end)):
            joined = Block(joined.start, block.end, joined.by_line or block.by_line)
        else:
            if joined:
                yield joined
            joined = block
        after_opening = bool(_OPENING_MARKER.fullmatch(text, block.start, block.end))
    if joined:
        yield joined
