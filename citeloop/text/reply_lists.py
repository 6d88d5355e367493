"""Lists as chat models write them: one item a line was asked for, and all sorts of things come back."""

import json
import re
from collections.abc import Iterator
from itertools import count

from citeloop.text.thinking import strip_thinking

_MOST_CHARACTERS = 20_000
"""What stands behind them in a reply is not read."""
_LONGEST_ITEM = 400
"""Characters; what is longer is no question and no query."""
_MOST_VALUES = 100

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*\n(?P<code>(?s:.*?))(?:^[ \t]*(?:`{3,}|~{3,})|\Z)", re.MULTILINE)
_JSON_START = re.compile(r"(?:^|[=:])[ \t]*+(?=[\[{])", re.MULTILINE)
_QUOTED_LIST = re.compile(r"(?:^|[=:])[ \t]*+\[\s*+(?=['\"])(?P<inside>[^\]]*+)", re.MULTILINE)
_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*+)'(?=\s*+(?:,|\Z))|\"((?:[^\"\\\n]|\\.)*+)\"")

_TAG = re.compile(r"</?[a-zA-Z][\w-]{0,30}>")
_BULLET = re.compile(r"\s*+(?:[-*+•·–—>]\s++|[\[(#]{0,2}\d{1,3}[.):\]]{1,2}(?=\s|[^\W\d])\s*+|[a-zA-Z]\)\s++)")
_LABEL = re.compile(
    r"(?:(?:alternative|alternate|search|sub|re-?written|re-?worded|rephrased|step-?back|general|broader|related|stand-?alone)[\s-]++)?"
    r"(?:sub-?)?(?:quer(?:y|ies)|questions?|rewrit(?:e|ing)s?|rewordings?|variations?|versions?|alternatives?|q)\s*+"
    r"(?:#?\d{1,2}\s*+[:.)–-]|:)\s*+",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "「": "」"}
_COMMENTARY = re.compile(
    r"#|[`~]{3}|.*[:：]$"
    r"|(?:here(?:['’]s| is| are)|sure|certainly|of course|okay|below (?:is|are)|the following|explanation"
    r"|these (?:quer|question|sub)\w*|i(?:['’]ve| have| hope)|hope (?:this|these)|let me know|note that|note:"
    r"|together,? (?:these|they))\b",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"i['’]?m (?:sorry|unable|not able)\b|(?:i am )?sorry\b|i (?:can(?:no|['’])t|am unable|won['’]t)\b|as an ai\b"
    r"|unfortunately\b|i apologi[sz]e|no (?:quer(?:y|ies)|(?:sub-?)?questions?)\b|(?:none|null|n/?a|nil|empty)\W*$",
    re.IGNORECASE,
)
_CODE = re.compile(r"[\W_]*$|\w+\s*+=[^=]|print\(|def \w+\(|from \S+ import |import \w+$")
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
    items = _json_items(body) or _quoted_items(body) or _line_items(body)
    evened = (" ".join(item.split()) for item in items)
    return [item for item in evened if _says_something(item)]


def _says_something(item: str) -> bool:
    return len(item) <= _LONGEST_ITEM and any(map(str.isalpha, item)) and not _REFUSAL.match(item)


def _json_items(body: str) -> list[str]:
    """Strings of the JSON values that stand one after the other from the first one on."""
    start = _JSON_START.search(body)
    decoder, at = json.JSONDecoder(), start.end() if start else len(body)
    items: list[str] = []
    for _ in range(_MOST_VALUES):
        try:
            value, at = decoder.raw_decode(body, at)
        except (ValueError, RecursionError):
            break
        items += _strings(value)
        at += len(body[at:]) - len(body[at:].lstrip(", \n\r\t"))
    return items


def _strings(value: object) -> Iterator[str]:
    """A list's strings, those of a list inside an object, and the first string of each object in a list."""
    if isinstance(value, dict):
        lists = [member for member in value.values() if isinstance(member, list)]
        yield from _strings(lists[0] if lists else [member for member in value.values() if isinstance(member, str)])
    elif isinstance(value, list):
        for member in value:
            if isinstance(member, str):
                yield member
            elif isinstance(member, dict):
                yield from [text for text in member.values() if isinstance(text, str)][:1]


def _quoted_items(body: str) -> list[str]:
    """The quoted strings of a list in a program."""
    found = _QUOTED_LIST.search(body)
    literals = _LITERAL.findall(found["inside"]) if found else []
    return [re.sub(r"\\(.)", r"\1", single or double) for single, double in literals]


def _line_items(body: str) -> list[str]:
    """The lines; those with a mark only, where there are at least two; the questions of a line that stands alone."""
    lines = [_read_line(line) for line in body.splitlines()]
    marked = [text for text, is_marked in lines if is_marked and text]
    items = marked if len(marked) > 1 else [text for text, _ in lines if text]
    return _BETWEEN_QUESTIONS.split(items[0]) if len(items) == 1 else items


def _read_line(line: str) -> tuple[str, bool]:
    """The item on a line, and whether a bullet, number or label marks it as one; empty for what is no item."""
    text = _TAG.sub(" ", line).replace("**", "").replace("__", "").strip()
    if len(text) > 2 * _LONGEST_ITEM:
        return "", False
    for marks in count():
        mark = _BULLET.match(text) or _LABEL.match(text)
        if mark is None or mark.end() == len(text) or marks > 3:
            break
        text = text[mark.end() :].strip()
    if _COMMENTARY.match(text) or _CODE.match(text):
        return "", False
    return _unquote(text), marks > 0


def _unquote(text: str) -> str:
    bare = text.rstrip(",; ")
    if len(bare) > 1 and _QUOTES.get(bare[0]) == bare[-1]:
        return bare[1:-1].strip()
    return text.strip("`*")
