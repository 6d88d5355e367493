"""What thinking models put before their reply."""

import re

_THINKING = re.compile(r"\s*<think(?:ing)?>(?s:.*?)(?:</think(?:ing)?>|\Z)", re.IGNORECASE)
_TAG = "<think"
_WHOLE_THINKING = re.compile(r"\s*<think(?:ing)?>(?s:.*?)</think(?:ing)?>\s*(?=\S)", re.IGNORECASE)
_THINKING_END = re.compile(r"(?s:.*?)</think(?:ing)?>", re.IGNORECASE)


class ThinkingStream:
    """``strip_thinking`` for a reply in pieces; of one whose opening tag is missing, the reasoning is passed on."""

    def __init__(self) -> None:
        self._held: str | None = ""
        """What may still be reasoning; None once the reply has begun."""

    def feed(self, piece: str) -> str:
        """What is certainly part of the reply, white space before it left out."""
        if self._held is None:
            return piece
        self._held += piece
        start = self._held.lstrip()
        if start[: len(_TAG)].lower() != _TAG[: len(start)]:
            self._held = None
            return start
        if ">" not in piece or not (match := _WHOLE_THINKING.match(self._held)):
            return ""
        rest, self._held = self._held[match.end() :].lstrip(), None
        return rest


def strip_thinking(reply: str) -> str:
    """A model's reply without the reasoning that thinking models put before it (``<think>...</think>``).

    Some servers swallow the opening tag: then everything up to the closing one goes. Reasoning that was cut off before
    its end leaves nothing.
    """
    match = _THINKING.match(reply) or _THINKING_END.match(reply)
    return reply[match.end() :].lstrip() if match else reply
