"""Markdown and HTML as whoever reads the rendered page sees it, each character with its place in the source."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from citeloop.text.markup import INLINE_CODE, LINK_TARGET, LINK_TEXT
from citeloop.text.sentences import Span

_TAGS = (
    "a|abbr|article|b|blockquote|br|center|code|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|font|h[1-6]|hr|i"
    "|iframe|img|ins|kbd|li|mark|ol|p|picture|pre|s|samp|section|small|source|span|strong|sub|summary|sup|table|tbody"
    "|td|th|thead|tr|u|ul|var|video"
)
_LINK = rf"\[{LINK_TEXT}\]{LINK_TARGET}"
_MARKUP = re.compile(
    rf"(?P<code>{INLINE_CODE})"  # stands as it is: a sign inside is no markup
    rf"|!{_LINK}"
    rf"|[ \t]?\({_LINK}\)"  # a link alone in parentheses is a reference, as a footnote is
    rf"|\[(?P<link>{LINK_TEXT})\]{LINK_TARGET}"
    r"|(?P<space><br[ \t]*/?>)"
    rf"|<!--(?s:.{{0,2000}}?)-->|</?(?:{_TAGS})(?:[ \t\n][^<>]*)?/?>"
    r"|[ \t]?\{:?[ \t]*#[\w.:-]+[ \t]*\}"  # the anchor of a heading
    r"|\{[*%][^\n{}]*[*%]\}"  # a directive that includes a file
    r"|(?m:^[ \t]*(?:/{3,}|:{3,}|!{3}|\?{3}\+?)(?:[ \t][^\n]*)?$)"  # the border of an admonition
    r"|(?m:^ {0,3}\[[^\[\]\n]+\]:[ \t]+\S+[^\n]*$)"  # the definition of a link
    r"|\\(?P<escaped>[*_\[\]<>#`~])"
    r"|(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])|(?<=[^\W\d])\*\*(?=[^\W\d])"
    r"|(?<!\w)(?P<rule>__?)(?P<emphasis>[^\s_][^_\n]{0,200}?[ \t][^_\n]{0,200}[^\s_])(?P=rule)(?!\w)"
)
_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MAY_BE_MARKUP = re.compile(r"[*_\[<{\\]|/{3}|:{3}|!{3}|\?{3}")


@dataclass(frozen=True, slots=True)
class PlainText:
    """Text without its markup: ``text[i]`` stands at ``origin[i]`` in the source, in rising order."""

    text: str
    origin: Sequence[int]
    source: str

    def source_span(self, start: int, end: int) -> Span:
        """The place of ``text[start:end]`` (not empty) in the source, grown over markup that adjoins it: never half a
        link, no bold sign without its twin."""
        first = self.origin[start - 1] + 1 if start else 0
        last = self.origin[end] if end < len(self.origin) else len(self.source)
        grown = self.source[first:last]
        return Span(last - len(grown.lstrip()), first + len(grown.rstrip()))


@lru_cache(maxsize=4_096)
def read_plain(source: str) -> PlainText:
    """``source`` as it reads: links as their text; emphasis, tags, anchors, directives and references taken out.

    Inline code keeps its ticks, tables keep their bars. Linear in the length of ``source``.
    """
    if not _MAY_BE_MARKUP.search(source):
        return PlainText(source, range(len(source)), source)
    pieces: list[str] = []
    origin: list[int] = []
    for start, end, shown in _shown(source, 0, len(source)):
        pieces.append(shown)
        origin.extend(range(start, end))
    return PlainText("".join(pieces), origin, source)


def plain_text(source: str) -> str:
    """The text of ``read_plain``."""
    return read_plain(source).text


def count_words(text: str) -> int:
    """Words with two letters at least, and characters of scripts that set no spaces: numbers and marks are none."""
    return len(_WORD.findall(text))


def _shown(source: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """What is shown of ``source[start:end]``, piece by piece, with the place of each."""
    at = start
    for markup in _MARKUP.finditer(source, start, end):
        yield at, markup.start(), source[at : markup.start()]
        at = markup.end()
        if markup["space"]:
            yield markup.start(), markup.start() + 1, " "
        elif name := next((name for name in ("code", "escaped") if markup[name]), ""):
            yield *markup.span(name), markup[name]
        elif name := next((name for name in ("link", "emphasis") if markup[name]), ""):
            yield from _shown(source, *markup.span(name))
    yield at, end, source[at:end]
