"""What of a passage can be quoted: its sentences, list items and table rows, and the code that follows them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from citeloop.text.markup import FENCED_CODE, INLINE_CODE, LINK
from citeloop.text.plain import count_words, plain_text
from citeloop.text.sentences import Span, split_sentences
from citeloop.text.table_rows import read_row
from citeloop.text.words import content_stems

_CODE_FENCE = re.compile(FENCED_CODE, re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:`{3}|~{3})", re.MULTILINE)
_CLOSES_A_CUT_FENCE = re.compile(  # a bare fence right under a line, where an opening one has a blank line above it
    r"(?:(?![ \t]*(?:`{3}|~{3})).*\n)*(?![ \t]*(?:`{3}|~{3})).*\S[ \t]*\n[ \t]*(?:`{3,}|~{3,})[ \t]*$", re.MULTILINE
)
_NO_SENTENCE = re.compile(r"\s*(?:#{1,6}\s|<(?:script|style|svg)\b)|\s*(\*\*|__)[^*\n]*[^*\n.!?。！？:：]\1\s*\Z")
_ITEM = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s|\|)")
_DECORATION = re.compile(r"\A(?:\s*(?:[-*+•>]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)+")
_TABLE_RULE = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*")
_TABLE_RULE_BELOW = re.compile(rf"[ \t|]*\n{_TABLE_RULE.pattern}$", re.MULTILINE)
_BETWEEN_PROSE_AND_CODE = re.compile(r"(?:\s|<[^>\n]*>|///[^\n]*)*")
_BRACKETED_NUMBER = re.compile(r"\s*[\[\uff3b\u3010\u3014]\s*\d[\d\s,;\u2013-]*[\]\uff3d\u3011\u3015]")
_QUESTION = re.compile(
    r"(?:wh(?:at|ich|o|ose|om|en|ere|y)|how|is|are|was|were|do|does|did|can|could|should|will|would|has|have)\b.*\?"
    r"|.*\uff1f",
    re.IGNORECASE,
)
_LINK = re.compile(LINK)
_INLINE_CODE = re.compile(INLINE_CODE)

_LONGEST_CODE = 20  # lines
BETWEEN_CELLS = " · "


@dataclass(frozen=True)
class Quotable:
    """A sentence, list item or table row of a passage, as it stands there."""

    text: str
    is_item: bool
    code: str = ""
    """The fenced code block right behind it, if any."""
    indent: int = 0
    """Characters before it on its line."""
    continues: bool = False
    """Whether it goes on with the item before it."""
    lead_in: int | None = None
    """Index of what announces it: the sentence above a list, the item above a nested one."""

    @cached_property
    def quote(self) -> str:
        """What a reader of the rendered page sees, on one line, without bullet and bars; a number in brackets, which
        would read as a citation of ours, is left out. Word for word otherwise."""
        row = read_row(self.text)
        parts = (row.label, *row.cells) if row else (_DECORATION.sub("", plain_text(self.text)),)
        return BETWEEN_CELLS.join(" ".join(_BRACKETED_NUMBER.sub("", part).split()) for part in parts if part)

    @cached_property
    def stems(self) -> Counter[str]:
        """Those of the content words that it says; the label of a table row is none."""
        row = read_row(self.text)
        return Counter(content_stems(" ".join(row.cells) if row else self.quote))

    @cached_property
    def stands_alone(self) -> bool:
        """Whether it tells something by itself: bare links only point elsewhere, a question answers none, and what
        ends with a colon must at least name something in code."""
        if _QUESTION.fullmatch(self.quote) or (self.leads_in and not _INLINE_CODE.search(self.quote)):
            return False
        return _tells(_LINK.sub("", self.text))

    @property
    def leads_in(self) -> bool:
        """Whether it announces what follows it."""
        return self.quote.endswith((":", "\uff1a"))

    @cached_property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return read_row(self.text) is not None

    @property
    def in_list(self) -> bool:
        """Whether it is an item or a part of one."""
        return self.is_item or self.continues


def cut_quotables(text: str) -> tuple[Quotable, ...]:
    """The quotable parts of a passage in reading order, cut where ingest cuts sentences.

    Headings, the heads of tables, directives, link definitions, images, and what holds no words are left out; so is
    code, which only follows the sentence before it.
    """
    return tuple(_with_lead_ins(list(_quotables(text, list(_fences(text))))))


def _with_lead_ins(quotables: Sequence[Quotable]) -> Iterator[Quotable]:
    announcing: list[int] = []  # of the list that is open, the outermost first
    for index, quotable in enumerate(quotables):
        if not quotable.in_list:
            announcing.clear()
        while announcing and quotables[announcing[-1]].is_item and quotables[announcing[-1]].indent >= quotable.indent:
            announcing.pop()
        yield replace(quotable, lead_in=announcing[-1]) if announcing else quotable
        if quotable.leads_in:
            announcing.append(index)


def _quotables(text: str, fences: Sequence[Span]) -> Iterator[Quotable]:
    item: Quotable | None = None  # the one that the next sentence may go on with
    end = 0
    for span in split_sentences(text):
        sentence = text[span.start : span.end]
        if any(fence.start < span.end and span.start < fence.end for fence in fences):
            continue
        if "\n" in sentence and all(" | " in line for line in sentence.splitlines()):
            yield from _rows_without_outer_bars(sentence)
        elif _tells(sentence) and not _NO_SENTENCE.match(sentence) and not _TABLE_RULE_BELOW.match(text, span.end):
            code, column = _code_behind(text, span, fences), span.start - text.rfind("\n", 0, span.start) - 1
            if _ITEM.match(sentence):
                item = Quotable(sentence, True, code, column)
                yield item
            elif item and _goes_on(text[end : span.start]):
                yield Quotable(sentence, False, code, item.indent, continues=True)
            else:
                item = None
                yield Quotable(sentence, False, code, column)
            end = span.end


def _goes_on(gap: str) -> bool:
    return not gap.strip() and gap.count("\n") < 2


def _rows_without_outer_bars(table: str) -> Iterator[Quotable]:
    """The rows of a table that the sentence splitter took for one paragraph, its head left out."""
    lines = table.splitlines()
    below_head = next((i + 1 for i, line in enumerate(lines[:2]) if _TABLE_RULE.fullmatch(line)), 0)
    rows = (Quotable(f"| {line} |", is_item=True) for line in lines[below_head:])
    yield from (row for row in rows if row.stands_alone)


def _fences(text: str) -> Iterator[Span]:
    """The fenced blocks; the first may have lost its beginning, and the last its end, to the cut of the passage."""
    cut = _CLOSES_A_CUT_FENCE.match(text) if len(_FENCE.findall(text)) % 2 else None
    if cut:
        yield Span(0, cut.end())
    yield from (Span(*match.span()) for match in _CODE_FENCE.finditer(text, cut.end() if cut else 0))


def _code_behind(text: str, span: Span, fences: Sequence[Span]) -> str:
    fence = next((fence for fence in fences if fence.start >= span.end), None)
    if fence is None or not _BETWEEN_PROSE_AND_CODE.fullmatch(text, span.end, fence.start):
        return ""
    code = text[fence.start : fence.end].strip("\n")
    is_whole = code.endswith(("```", "~~~"))  # the cut of the chunk may have left its end elsewhere
    return code if is_whole and code.count("\n") <= _LONGEST_CODE else ""


def _tells(text: str) -> bool:
    """Whether there are words enough: two in a sentence; one in a row of two cells, and in what leads in a list."""
    plain = plain_text(text)
    row = read_row(text)
    is_label = (row is not None and len(row.cells) > 1) or plain.rstrip().endswith((":", "\uff1a"))
    return count_words(plain) >= (1 if is_label else 2)
