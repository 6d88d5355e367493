"""What stands between the brackets of a citation: labels, lists and ranges of them."""

import re
import unicodedata
from collections.abc import Mapping

_LIST_SEPARATOR = re.compile(r"[,;、،؛&+]|\band\b", re.IGNORECASE)
_TITLE = re.compile(r"(?<=\d)\s?:\s++(?=[^\W\d])")
_LOCATOR = re.compile(
    r"(?:pp?\.|pages?\b|sections?\b|sec\.|chapters?\b|ch\.|lines?\b|¶|§)[\s§¶]*+[\w.–—-]++", re.IGNORECASE
)
"""Where in the source: ``[1, p. 3]``."""
_LEADING_WORD = re.compile(
    r"(?:(?:sources?|documents?|docs?|passages?|ref(?:erence)?s?|citations?|chunks?|files?)(?:[\s:.#]++|(?=\d))"
    r"|[#^][\s:.#]*+)(?=\S)",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"(?P<prefix>[a-z]*+)(?P<first>\d{1,9})\s*+(?:[-–—~]|\.{2,3}|\bto\b)\s*+(?P<again>[a-z]*+)(?P<last>\d{1,9})",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(r"d(?P<number>\d+)")
"""``[D7]`` for the document with number 7: what the specified prompts give as an example."""
_MAX_RANGE = 50
"""Citations that one range may stand for; a longer one is rejected whole."""
_ID_LIKE = re.compile(
    r"[a-z]{1,8}_?0"  # D7, Src12, chunk_4: shapes, where a run of digits is one 0
    r"|(?:document|doc|source|src|passage|ref|chunk|file|id)-(?=[a-f]{0,64}0)[0a-f]++"  # doc-7, doc-3f2b9a1c
    r"|(?:[\w-]++/)*+[\w-]++(?:\.[\w-]++)*?\.(?:md|markdown|txt|rst|pdf|html?|docx?|pptx?|xlsx?|csv|tsv|jsonl?|xml|ya?ml)"
    r"(?:[#:][\w-]++)?"  # pricing.md, docs/pricing.md#fees
)
"""What stands between brackets for a source and for nothing else, whether there is such a source or not."""


class LabelReader:
    """Reads what stands between two brackets."""

    def __init__(self, known: Mapping[str, int]) -> None:
        """``known`` maps each label as the prompt showed it to its number. Labels that differ by letter case or leading
        zeros only are told apart: each is cited by its exact form alone."""
        self._known = known
        self._by_fold: dict[str, str] = {}
        for label in known:
            folded = _fold(label)
            self._by_fold[folded] = "" if folded in self._by_fold else label
        self._shapes = {_shape(folded) for folded in self._by_fold} | {"0"}
        self._numbers_only = self._shapes == {"0"}

    def read(self, body: str) -> list[str]:
        """The labels cited, known ones as in the id map, others as written; empty when ``body`` is ordinary text."""
        whole = _plain(body)
        if known := self._find(body.strip()) or self._find(whole):
            return [known]
        labels: list[str] = []
        for item in _LIST_SEPARATOR.split(_TITLE.split(whole, maxsplit=1)[0]):
            if labels and _LOCATOR.fullmatch(item.strip()):
                continue
            read = self._read_item(item.strip())
            if not read:
                return []
            labels += read
        return labels

    def read_range(self, first: str, last: str) -> list[str]:
        """The labels of ``[first]-[last]``; the two alone when they make no range."""
        return self._read_item(f"{first}-{last}") or [first, last]

    def _find(self, label: str) -> str:
        """The known label that is meant; empty for none, or where several differ by what is set aside only."""
        return label if label in self._known else self._by_fold.get(_fold(label), "")

    def _read_item(self, item: str) -> list[str]:
        word = _LEADING_WORD.match(item)
        label = item[word.end() :] if word else item
        if known := self._find(item) or self._find(label) or self._find(self._numbered(label)):
            return [known]
        if match := _RANGE.fullmatch(label):
            return self._expand(match)
        return [item] if self._is_label(item) else [label] if self._is_label(label) else []

    def _numbered(self, label: str) -> str:
        document = _DOCUMENT.fullmatch(_fold(label)) if self._numbers_only else None
        return document["number"] if document else ""

    def _is_label(self, label: str) -> bool:
        """By its shape: that of a known one, or one that only a source's id has."""
        shape = _shape(_fold(label))
        return shape in self._shapes or _ID_LIKE.fullmatch(shape) is not None

    def _expand(self, match: re.Match[str]) -> list[str]:
        prefix, first, last = match["prefix"], int(match["first"]), int(match["last"])
        if match["again"].casefold() not in ("", prefix.casefold()) or not self._is_label(f"{prefix}0"):
            return []
        if not first <= last < first + _MAX_RANGE:
            return [match.group()]
        width = len(match["first"])  # "[D08-D10]" has D09 in it
        members = (f"{prefix}{number:0{width}}" for number in range(first, last + 1))
        return [self._find(member) or member for member in members]


_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_DIGITS = re.compile(r"\d+")


def _plain(label: str) -> str:
    """Digits of other scripts, compatibility forms, invisible signs and OpenAI's ``4†source`` set aside."""
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", label)).partition("†")[0]
    return _OTHER_DIGIT.sub(lambda digit: str(int(digit.group())), plain).strip()


def _fold(label: str) -> str:
    """Letter case and leading zeros set aside too."""
    return _LEADING_ZEROS.sub("", _plain(label).casefold())


def _shape(folded: str) -> str:
    """A label that has the shape of a known one, sign aside, is a citation even if it leads nowhere."""
    return _DIGITS.sub("0", folded.lstrip("+-−"))
