"""What thinking models put before their reply."""

import re

_THINKING = re.compile(r"\s*<think(?:ing)?>(?s:.*?)(?:</think(?:ing)?>|\Z)", re.IGNORECASE)
_THINKING_END = re.compile(r"(?s:.*?)</think(?:ing)?>", re.IGNORECASE)


def strip_thinking(reply: str) -> str:
    """A model's reply without the reasoning that thinking models put before it (``<think>...</think>``).

    Some servers swallow the opening tag: then everything up to the closing one goes. Reasoning that was cut off before
    its end leaves nothing.
    """
    match = _THINKING.match(reply) or _THINKING_END.match(reply)
    return reply[match.end() :].lstrip() if match else reply
