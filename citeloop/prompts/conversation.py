"""A conversation as a prompt shows it, and a follow-up question as the generator does."""

import re
from collections.abc import Sequence
from html import escape, unescape
from typing import NamedTuple

_TURN = re.compile(r"<user>([^<]*)</user>\s*<assistant>([^<]*)</assistant>")  # escaped: no other tag inside
_ASKED_AS = "\n(In the conversation it was asked as: "


class Turn(NamedTuple):
    """A question, and what was answered to it; empty for none."""

    question: str
    answer: str


def render_turns(turns: Sequence[Turn]) -> str:
    """The turns, oldest first, escaped."""
    return "\n".join(
        f"<user>{escape(turn.question, quote=False)}</user>\n<assistant>{escape(turn.answer, quote=False)}</assistant>"
        for turn in turns
    )


def read_turns(elements: str) -> list[Turn]:
    """The turns that ``render_turns`` wrote."""
    return [Turn(unescape(question), unescape(answer)) for question, answer in _TURN.findall(elements)]


def show_question(question: str, asked: str = "") -> str:
    """A question for the generator; of a follow-up that was made standalone, with the words it was ``asked`` in."""
    return f"{question}{_ASKED_AS}{asked})" if asked and asked != question else question


def standing_part(shown: str) -> str:
    """The question without the words that it was asked in."""
    return shown.partition(_ASKED_AS)[0]
