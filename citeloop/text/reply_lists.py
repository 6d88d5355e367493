"""Lists as chat models write them: one item a line was asked for, and all sorts of things come back."""

import re
from collections.abc import Set as AbstractSet
from itertools import count, pairwise

from citeloop.text.reply_chatter import declines, is_commentary
from citeloop.text.reply_json import json_strings
from citeloop.text.thinking import strip_thinking

_MOST_CHARACTERS = 20_000
"""What stands behind them in a reply is not read."""
_LONGEST_ITEM = 400
"""Characters; what is longer is no question and no query."""

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*\n(?P<code>(?s:.*?))(?:^[ \t]*(?:`{3,}|~{3,})|\Z)", re.MULTILINE)
_QUOTED_LIST = re.compile(r"(?:^|[=:])[ \t]*+\[\s*+(?=['\"])(?P<inside>[^\]]*+)", re.MULTILINE)
_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*+)'(?=\s*+(?:,|\Z))|\"((?:[^\"\\\n]|\\.)*+)\"")

_TAG = re.compile(r"</?(?P<name>[a-zA-Z][\w-]{0,30})>")
_CLOSING_TAG = re.compile(r"</([a-zA-Z][\w-]{0,30})>")
_OPEN_TAGS = frozenset({"query", "queries", "question", "questions", "item", "li", "ul", "ol", "p", "br"})
"""Tags that are none of the text even where they are never closed, as "<person>" is."""
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)|(?<!\w)__(?P<words>[^_\n]*[\s:][^_\n]*)__(?!\w)")
_BULLET = re.compile(
    r"\s*+(?:[-*+•·–—>]\s++|[\[(#]{0,2}(?:\d{1,3}[.)\]]|\d{1,2}:)[.):\]]?(?=\s|[^\W\d]{2})\s*+|[a-zA-Z]\)\s++)"
)
_INLINE_NUMBER = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})[.)]\s+(?=\S)")
_KIND = (
    r"(?:alternative|alternate|search|sub|re-?written|re-?worded|rephrased|step-?back|(?:more )?general|broader|related"
    r"|original|stand-?alone)"
)
_LABEL = re.compile(
    rf"(?:{_KIND}[\s-]++)?"
    r"(?:sub-?)?(?:quer(?:y|ies)|questions?|rewrit(?:e|ing)s?|rewordings?|variations?|versions?|alternatives?|q)\s*+"
    r"(?:#?\d{1,2}(?:\s*+:|[.)](?=\s|[^\W\d_a-z])|\s++[–-](?=\s))|:)\s*+"
    r"|(?:original|step-?back|re-?written|re-?worded|rephrased)\s*+:\s*+",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "「": "」"}
_BETWEEN_QUESTIONS = re.compile(r"(?<=\?)\s+|(?<=？)\s*")


def read_list(reply: str) -> list[str]:
    """The items of a reply, white space evened out, in order; repeats are kept.

    Read are lines, numbered or bulleted or labelled ("Alternative question 1:") or not; JSON lists, alone or in an
    object; a fenced block; a list in a program. Left out are thinking, preambles, headings, refusals and what is too
    long to be a question. Never raises; an unreadable reply has no items. Linear in the length of the reply.
    """
    text = strip_thinking(reply)[:_MOST_CHARACTERS]
    fence = _FENCE.search(text)
    body = fence["code"] if fence and fence["code"].strip() else text
    items = json_strings(body) or _quoted_items(body) or _line_items(body)
    evened = (" ".join(item.split()) for item in items)
    return [item for item in evened if _says_something(item)]


def _says_something(item: str) -> bool:
    return len(item) <= _LONGEST_ITEM and any(map(str.isalpha, item)) and not declines(item)


def _quoted_items(body: str) -> list[str]:
    """The quoted strings of a list in a program."""
    found = _QUOTED_LIST.search(body)
    literals = _LITERAL.findall(found["inside"]) if found else []
    return [re.sub(r"\\(.)", r"\1", single or double) for single, double in literals]


def _line_items(body: str) -> list[str]:
    """The lines; those with a mark only, where there are at least two; the questions of a line that stands alone."""
    closed = _OPEN_TAGS.union(name.casefold() for name in _CLOSING_TAG.findall(body))
    lines = [_read_line(part) for line in body.splitlines() for part in _numbered_parts(_without_tags(line, closed))]
    marked = [text for text, is_marked in lines if is_marked and text]
    items = marked if len(marked) > 1 else [text for text, _ in lines if text]
    return _BETWEEN_QUESTIONS.split(items[0]) if len(items) == 1 else items


def _without_tags(line: str, names: AbstractSet[str]) -> str:
    """``line`` without tags of these names: "<person>" may stand for what a query has left open."""
    return _TAG.sub(lambda tag: " " if tag["name"].casefold() in names else tag.group(), line)


def _numbered_parts(line: str) -> list[str]:
    """The items of a list that was written on one line, "1. ... 2. ...", or the line."""
    marks = list(_INLINE_NUMBER.finditer(line))
    lead_in = line[: marks[0].start()].rstrip() if marks else ""
    if len(marks) < 2 or [int(mark[1]) for mark in marks] != [*range(1, len(marks) + 1)]:
        return [line]
    if lead_in and not lead_in.endswith(":"):
        return [line]
    starts = [mark.start() for mark in marks]
    return [line[start:end] for start, end in pairwise([*starts, len(line)])]


def _read_line(line: str) -> tuple[str, bool]:
    """The item on a line, and whether a bullet, number or label marks it as one; empty for what is no item."""
    if len(line) > 2 * _LONGEST_ITEM:
        return "", False
    text = _BOLD.sub(lambda bold: bold["words"] or "", line).strip()
    for marks in count():
        mark = _BULLET.match(text) or _LABEL.match(text)
        if mark is None or mark.end() == len(text) or marks > 3:
            break
        text = text[mark.end() :].strip()
    if is_commentary(text):
        return "", False
    return _unquote(text), marks > 0


def _unquote(text: str) -> str:
    bare = text.rstrip(",; ")
    if len(bare) > 1 and _QUOTES.get(bare[0]) == bare[-1]:
        return bare[1:-1].strip()
    return text.strip("`*")
