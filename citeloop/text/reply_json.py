"""What was asked for, from a reply in JSON: its values, or the strings that they hold."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value", str, list[object])

_MOST_VALUES = 100
_JSON_START = re.compile(r"(?:^|[=:])[ \t]*+(?=[\[{])", re.MULTILINE)
_TELLING_KEY = re.compile(
    r"(?!.*(?:original|_id$|_?type$)).*(?:quer|question|text|search|rewrit|reword|phras|step_?back)", re.IGNORECASE
)
_KEY_ASIDE = re.compile(
    r"(?:\w*[_-])?(?:id|type|kind|lang|language|original\w*|reason\w*|why|explanation|note)$", re.IGNORECASE
)


def json_strings(body: str) -> list[str]:
    """Strings of the values that ``json_values`` finds.

    Taken are a list's strings, those of a list inside an object, the telling one of each object in a list, and those of
    an object that stands alone. Never raises.
    """
    return [item for value in json_values(body) for item in _strings(value)]


def json_values(body: str) -> Iterator[object]:
    """The JSON values that stand one after the other from the first one on; none where there is no JSON."""
    start = _JSON_START.search(body)
    decoder, at = json.JSONDecoder(), start.end() if start else len(body)
    for _ in range(_MOST_VALUES):
        try:
            value, at = decoder.raw_decode(body, at)
        except (ValueError, RecursionError):
            return
        yield value
        at += len(body[at:]) - len(body[at:].lstrip(", \n\r\t"))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        lists = _telling(value, list)
        yield from _strings(lists[0] if lists else _telling(value, str))
    elif isinstance(value, list):
        for member in value:
            if isinstance(member, str):
                yield member
            elif isinstance(member, dict):
                yield from _telling(member, str)[:1]


def _telling(value: Mapping[str, object], kind: type[Value]) -> list[Value]:
    """The members of ``kind`` whose keys say that they are queries; where none does, all but ids, types and reasons."""
    members = {key: member for key, member in value.items() if isinstance(member, kind)}
    named = [member for key, member in members.items() if _TELLING_KEY.match(key)]
    return named or [member for key, member in members.items() if not _KEY_ASIDE.match(key)]
