"""What of a passage can be quoted: its sentences and list items, and the code that follows them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from citeloop.text.sentences import Span, split_sentences

_CODE_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARKUP = re.compile(r"\s*(?:#|///|<[!/a-z]|\{[*%]|\[[^\]]+\]:\s|!\[)", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s|\|)")
_DECORATION = re.compile(r"^(?:\s*(?:[-*+•>]|\d{1,3}[.)])\s+)+")
_BETWEEN_PROSE_AND_CODE = re.compile(r"(?:\s|<[^>\n]*>|///[^\n]*)*")
_BRACKETED_NUMBER = re.compile(r"\s*[\[\uff3b\u3010\u3014]\s*\d[\d\s,;\u2013-]*[\]\uff3d\u3011\u3015]")
_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


_LONGEST_CODE = 20  # lines


@dataclass(frozen=True, slots=True)
class Quotable:
    """A sentence, list item or table row of a passage, as it stands there."""

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
        yield Quotable(sentence, bool(_ITEM.match(sentence)), _code_behind(text, span, fences))


def _code_behind(text: str, span: Span, fences: list[Span]) -> str:
    fence = next((fence for fence in fences if fence.start >= span.end), None)
    if fence is None or not _BETWEEN_PROSE_AND_CODE.fullmatch(text, span.end, fence.start):
        return ""
    code = text[fence.start : fence.end].strip("\n")
    is_whole = code.endswith(("```", "~~~"))  # the cut of the chunk may have left its end elsewhere
    return code if is_whole and code.count("\n") <= _LONGEST_CODE else ""


def _says_something(sentence: str) -> bool:
    return not _MARKUP.match(sentence) and len(_WORD.findall(sentence)) >= 2
