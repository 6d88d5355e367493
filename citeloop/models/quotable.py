"""What of a passage can be quoted: its sentences and list items, and the code that follows them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from citeloop.text.sentences import Span, split_sentences

_CODE_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"\s*(?:#|///|<[!/a-z]|\{[*%]|\[[^\]]+\]:\s|!\[)", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_DECORATION = re.compile(r"^(?:[-*+•>|#]|\d{1,3}[.)]|\s)+(?=\S)")
_BRACKETED_NUMBER = re.compile(r"\s*[\[\uff3b\u3010\u3014]\s*\d[\d\s,;\u2013-]*[\]\uff3d\u3011\u3015]")
_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence or list item of a passage, as it stands there."""

    text: str
    is_item: bool
    code: str = ""
    """The fenced code block right behind it, if any."""

    @property
    def leads_in(self) -> bool:
        """Whether it announces what follows it."""
        return self.text.rstrip("*_ ").endswith((":", "\uff1a"))

    @property
    def quote(self) -> str:
        """The text on one line, without bullets and other marks at its start; a number in brackets, which would read
        as a citation of ours, is left out. Word for word otherwise."""
        bare = _BRACKETED_NUMBER.sub("", _DECORATION.sub("", self.text))
        return " ".join(bare.strip("| ").split())


def cut_quotables(text: str) -> tuple[Quotable, ...]:
    """The quotable parts of a passage in reading order, cut where ingest cuts sentences.

    Headings, directives, link definitions, images, and what holds no words are left out; so is code, which only
    follows the sentence before it.
    """
    fences = [Span(*match.span()) for match in _CODE_FENCE.finditer(text)]
    return tuple(_quotables(text, fences))


def _quotables(text: str, fences: list[Span]) -> Iterator[Quotable]:
    for span in split_sentences(text):
        sentence = text[span.start : span.end]
        if any(fence.start < span.end and span.start < fence.end for fence in fences) or not _says_something(sentence):
            continue
        code = next(
            (fence for fence in fences if not text[span.end : fence.start].strip() and fence.start >= span.end), None
        )
        yield Quotable(sentence, bool(_ITEM.match(sentence)), text[code.start : code.end].strip("\n") if code else "")


def _says_something(sentence: str) -> bool:
    return not _MARKUP.match(sentence) and len(_WORD.findall(sentence)) >= 2
