"""What stands between the brackets of a citation: labels, lists and ranges of them."""

import re
import unicodedata
from collections.abc import Mapping

_LIST_SEPARATOR = re.compile(r"[,;、،؛&+]|\band\b")
_TITLE = re.compile(r"(?<=\d)\s?:\s++(?=[^\W\d])")
_LOCATOR = re.compile(r"(?:pp?\.|pages?\b|sections?\b|sec\.|chapters?\b|ch\.|lines?\b|¶|§)[\s§¶]*+[\w.–—-]++")
"""Where in the source: ``[1, p. 3]``."""
_LEADING_WORD = re.compile(
    r"(?:sources?|documents?|docs?|passages?|ref(?:erence)?s?|citations?|chunks?|#|\^)[\s:.#]*+(?=\S*?\d)"
)
_RANGE = re.compile(
    r"(?P<prefix>[a-z]*+)(?P<first>\d{1,9})\s*+(?:[-–—~]|\.{2,3}|\bto\b)\s*+(?P<again>[a-z]*+)(?P<last>\d{1,9})"
)
_DOCUMENT = re.compile(r"d(?P<number>\d+)")
"""``[D7]`` for the document with number 7: what the specified prompts give as an example."""
_MAX_RANGE = 50
"""Citations that one range may stand for; a longer one is rejected whole."""
_LETTERED = re.compile(r"[a-z]{1,8}0")
"""The shape of ``D7``: where sources have numbers only, a label that can lead nowhere."""


class LabelReader:
    """Reads what stands between two brackets."""

    def __init__(self, known: Mapping[str, int]) -> None:
        """``known`` maps each label as the prompt showed it to its number. Labels with letters tell by themselves which
        shapes citations have; where there are none, any letters before a number make a label."""
        self._known = {_fold(label): label for label in known}
        self._shapes = {_shape(label) for label in self._known} | {"0"}
        self._numbers_only = self._shapes == {"0"}

    def read(self, body: str) -> list[str]:
        """The labels cited, known ones as in the id map, others folded; empty when ``body`` is ordinary text."""
        whole = _fold(body)
        if whole in self._known:
            return [self._known[whole]]
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
        return self._read_item(f"{_fold(first)}-{_fold(last)}") or [first, last]

    def _read_item(self, item: str) -> list[str]:
        word = _LEADING_WORD.match(item)
        label = item[word.end() :] if word else item
        if self._numbers_only and (document := _DOCUMENT.fullmatch(label)):
            label = document["number"] if document["number"] in self._known else label
        if label in self._known:
            return [self._known[label]]
        if match := _RANGE.fullmatch(label):
            return self._expand(match)
        return [label] if self._is_label(_shape(label)) else []

    def _is_label(self, shape: str) -> bool:
        return shape in self._shapes or (self._numbers_only and _LETTERED.fullmatch(shape) is not None)

    def _expand(self, match: re.Match[str]) -> list[str]:
        prefix, first, last = match["prefix"], int(match["first"]), int(match["last"])
        if match["again"] not in ("", prefix) or not self._is_label(f"{prefix}0"):
            return []
        if not first <= last < first + _MAX_RANGE:
            return [match.group()]
        members = (f"{prefix}{number}" for number in range(first, last + 1))
        return [self._known.get(member, member) for member in members]


_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_DIGITS = re.compile(r"\d+")


def _fold(label: str) -> str:
    """Digits of other scripts, letter case, leading zeros, invisible signs and OpenAI's ``4†source`` set aside."""
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", label)).casefold().partition("†")[0]
    digits = _OTHER_DIGIT.sub(lambda digit: str(int(digit.group())), plain)
    return _LEADING_ZEROS.sub("", digits.strip())


def _shape(label: str) -> str:
    """A label that has the shape of a known one, sign aside, is a citation even if it leads nowhere."""
    return _DIGITS.sub("0", label.lstrip("+-−"))
