"""Typed relations as chat models write them: JSON was asked for, and all sorts of things come back."""

import json
import re
from collections.abc import Sequence
from html import unescape
from itertools import islice
from typing import NamedTuple

from citeloop.text.reply_json import json_values
from citeloop.text.reply_lists import read_list

MOST_OF_A_REPLY = 50
"""Relations read of one reply."""
_MOST_CHARACTERS = 40_000
_LONGEST_END = 120
_LONGEST_RELATION = 60
"""Characters; what is longer is a sentence."""

_KEYS = (
    ("subject", "head", "source", "from"),
    ("relation", "predicate", "relationship", "type"),
    ("object", "tail", "target", "to"),
)
_FLAT_OBJECT = re.compile(r"\{[^{}]*+\}")
_ARROW = re.compile(r"(?P<subject>.+?)\s*-+\s*[\[(]?(?P<relation>[^\[\]()>|]+?)[\])]?\s*-+>\s*(?P<object>.+)")
_NONE = re.compile(r"\W*(?:none|nothing|no (?:typed )?relations?\b[^\n]{0,80})\W*", re.IGNORECASE)


class Triple(NamedTuple):
    """What a reply says of two entities, on one line each, otherwise as it was written."""

    subject: str
    relation: str
    object: str


def read_triples(reply: str) -> list[Triple] | None:
    """The relations in ``reply``, each once; empty where it says that there are none, None where none can be read.

    Read are JSON objects and lists of three, in a list, an object, a fence or prose, also where the reply breaks off;
    lines of three cells, and arrows (``A -relation-> B``). Never raises.
    """
    body = reply[:_MOST_CHARACTERS]
    values = list(json_values(body))
    found = _in_values(values) or _in_values(_whole_objects(body))
    found = found or [triple for line in read_list(body) if (triple := _in_line(line))]
    evened = [triple for triple in map(_even, found) if triple is not None]
    if not evened and not (_NONE.fullmatch(body) or any(map(_holds_nothing, values))):
        return None
    return list(dict.fromkeys(evened))


def _in_values(values: list[object]) -> list[Triple]:
    """The relations in the values and inside them, in order."""
    found: list[Triple] = []
    waiting = values[::-1]
    while waiting and len(found) < MOST_OF_A_REPLY:
        value = waiting.pop()
        if isinstance(value, dict):
            parts = [next((value[key] for key in keys if key in value), None) for keys in _KEYS]
            if None in parts:
                waiting += list(value.values())[::-1]
            else:
                found += _of_parts(parts)
        elif isinstance(value, list):
            is_one = len(value) == len(_KEYS) and all(isinstance(member, str) for member in value)
            found += _of_parts(value) if is_one else []
            waiting += [] if is_one else value[::-1]
    return found[:MOST_OF_A_REPLY]


def _of_parts(parts: Sequence[object]) -> list[Triple]:
    """One relation, or one for each where a list of objects stands in the place of one."""
    subject, relation, target = parts
    targets = target if isinstance(target, list) else [target]
    if not isinstance(subject, str) or not isinstance(relation, str):
        return []
    return [Triple(subject, relation, each) for each in targets if isinstance(each, str)]


def _whole_objects(body: str) -> list[object]:
    """The objects without another inside that stand anywhere: what is left of a reply that breaks off."""
    found: list[object] = []
    for match in islice(_FLAT_OBJECT.finditer(body), MOST_OF_A_REPLY):
        try:
            found.append(json.loads(match[0]))
        except ValueError:
            continue
    return found


def _in_line(line: str) -> Triple | None:
    if arrow := _ARROW.fullmatch(line):
        return Triple(*arrow.groups())
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    return Triple(*cells) if len(cells) == len(_KEYS) and all(cells) else None


def _even(triple: Triple) -> Triple | None:
    """On one line, without the escapes of the prompt and the underscores of an identifier; None for what is none."""
    subject, relation, target = (" ".join(unescape(part).split()) for part in triple)
    relation = relation.replace("_", " ").strip()
    relation = relation.lower() if relation.isupper() else relation
    is_one = 0 < len(relation) <= _LONGEST_RELATION and all(0 < len(end) <= _LONGEST_END for end in (subject, target))
    return Triple(subject, relation, target) if is_one else None


def _holds_nothing(value: object) -> bool:
    return not value or (isinstance(value, dict) and any(member == [] for member in value.values()))
