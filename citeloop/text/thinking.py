"""What thinking models put before their reply."""

import re
from typing import Literal

_THINKING = re.compile(r"\s*<think(?:ing)?>(?s:.*?)(?:</think(?:ing)?>|\Z)", re.IGNORECASE)
_THINKING_END = re.compile(r"(?s:.*?)</think(?:ing)?>", re.IGNORECASE)
_OPENING = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OPENING_TAGS = ("<think>", "<thinking>")
_LONGEST_TAG = len("</thinking>")


class ThinkingStream:
    """``strip_thinking`` for a reply in pieces, in time linear in them; of one whose opening tag is missing, the
    reasoning is passed on."""

    def __init__(self) -> None:
        self._part: Literal["opening", "reasoning", "reply"] = "opening"
        self._held: str | None = ""
        """What may be a tag, or the white space before one; None once the reply has begun."""

    def feed(self, piece: str) -> str:
        """What is certainly part of the reply, white space before it left out."""
        if self._held is None:
            return piece
        self._held = (self._held + piece).lstrip()
        if self._part == "opening":
            self._read_opening(self._held)
        if self._part == "reasoning":
            self._read_reasoning(self._held)
        if self._part != "reply" or not self._held:
            return ""
        reply, self._held = self._held, None
        return reply

    def _read_opening(self, held: str) -> None:
        if opening := _OPENING.match(held):
            self._part, self._held = "reasoning", held[opening.end() :]
        elif not any(tag.startswith(held.lower()) for tag in _OPENING_TAGS):
            self._part = "reply"

    def _read_reasoning(self, held: str) -> None:
        if closing := _CLOSING.search(held):
            self._part, self._held = "reply", held[closing.end() :].lstrip()
        else:
            self._held = held[-_LONGEST_TAG:]  # the tag may come in pieces


def strip_thinking(reply: str) -> str:
    """A model's reply without the reasoning that thinking models put before it (``<think>...</think>``).

    Some servers swallow the opening tag: then everything up to the closing one goes. Reasoning that was cut off before
    its end leaves nothing.
    """
    match = _THINKING.match(reply) or _THINKING_END.match(reply)
    return reply[match.end() :].lstrip() if match else reply
