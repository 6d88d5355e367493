"""The text of a page as it is read: built tag by tag, with the offsets of its headings and blocks."""

import re

from citeloop.knowledge.document import Block, Heading
from citeloop.knowledge.loaders.source import clean_title

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu", "dl"})
_BREAKING = frozenset(
    {"address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "div", "fieldset", "figure"}
    | {"figcaption", "footer", "form", "header", "hgroup", "hr", "html", "legend", "main", "p", "search", "section"}
    | {"summary", "dd", "dt", "li", "caption", "table", "tbody", "td", "tfoot", "th", "thead", "tr"}
)


class PageText:
    """Collects visible text: paragraphs apart by a blank line, list items and table rows on lines of their own."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0
        self._block_start: int | None = None
        self._fragments: list[str] = []  # of the line being read
        self._item_mark = ""
        self._lists: list[int | None] = []  # of each open list the number of its last item; None: not numbered
        self._heading_level = 0
        self._in_table = False
        self._in_listing = False

    @property
    def text(self) -> str:
        """All that was collected; read it after ``finish``."""
        return "".join(self._parts)

    def add_text(self, text: str) -> None:
        """Add characters of a text node; white space is folded, except in a ``pre``."""
        self._fragments.append(text)

    def enter(self, tag: str) -> None:
        """An element begins."""
        if self._heading_level or self._in_table:
            self._enter_in_line(tag)
        elif self._in_listing:
            self._fragments.append("\n" if tag == "br" else "")
        elif tag in _HEADINGS:
            self._end_block()
            self._item_mark = ""
            self._heading_level = _HEADINGS[tag]
        elif tag in _LISTS:
            self._break()
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._enter_item()
        elif tag in ("table", "pre"):
            self._enter_lines(tag)
        elif tag == "br":
            self._end_line()
        elif tag in _BREAKING:
            self._break()

    def leave(self, tag: str) -> None:
        """An element ends."""
        if self._heading_level:
            self._leave_in_heading(tag)
        elif self._in_table:
            self._leave_in_table(tag)
        elif self._in_listing:
            self._leave_in_listing(tag)
        elif tag in _LISTS:
            self._end_line()
            self._lists.pop()
            self._break()
        elif tag in _BREAKING:
            self._break()
            self._item_mark = "" if tag == "li" else self._item_mark

    def finish(self) -> None:
        """The page ends."""
        self._end_block()

    def _enter_in_line(self, tag: str) -> None:
        # Nothing breaks a heading or a table row; the cells of a row are told apart.
        if tag == "tr":
            self._end_line()
        elif tag in ("td", "th"):
            self._fragments.append(" | ")
        elif tag == "br" or tag in _BREAKING:
            self._fragments.append(" ")

    def _enter_item(self) -> None:
        self._break()
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number = number + 1
        self._item_mark = "  " * (len(self._lists) - 1) + ("- " if number is None else f"{number}. ")

    def _enter_lines(self, tag: str) -> None:
        self._break()
        self._in_table = tag == "table"
        self._in_listing = tag == "pre"

    def _leave_lines(self) -> None:
        self._end_line()
        self._in_table = self._in_listing = False
        if not self._lists:
            self._end_block(by_line=True)

    def _leave_in_table(self, tag: str) -> None:
        if tag == "table":
            self._leave_lines()
        elif tag == "tr":
            self._leave_row()
        elif tag == "caption":
            self._end_line()
        elif tag in _BREAKING:
            self._fragments.append(" ")

    def _leave_row(self) -> None:
        if "".join(self._fragments).replace("|", "").strip():
            self._fragments.append(" |")
        else:
            self._fragments.clear()
        self._end_line()

    def _leave_in_listing(self, tag: str) -> None:
        if tag == "pre":
            self._leave_lines()
        elif tag in _BREAKING:
            self._fragments.append("\n")

    def _leave_in_heading(self, tag: str) -> None:
        if tag not in _HEADINGS:
            return
        self._end_line()
        if self._block_start is not None:
            title = clean_title(self._parts[-1].rstrip("¶"))
            self.headings.append(Heading(self._heading_level, title, self._block_start, self._length))
        self._heading_level = 0
        self._end_block()

    def _break(self) -> None:
        if self._lists:
            self._end_line()
        else:
            self._end_block()

    def _end_line(self) -> None:
        collected = "".join(self._fragments)
        self._fragments.clear()
        line = collected.strip("\n").rstrip() if self._in_listing else re.sub(r"\s+", " ", collected).strip()
        if not line.strip():
            return
        if self._block_start is None:
            self._write("\n\n" if self._length else "")
            self._block_start = self._length
        else:
            self._write("\n")
        self._write(self._item_mark + line)
        self._item_mark = ""

    def _end_block(self, by_line: bool = False) -> None:
        self._end_line()
        if self._block_start is not None:
            self.blocks.append(Block(self._block_start, self._length, by_line))
        self._block_start = None

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
