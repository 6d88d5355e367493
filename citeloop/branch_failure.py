"""Why one branch of a fan-out dropped out, told so that its siblings can stand and nothing secret is kept."""

import asyncio
import re
from typing import Final

BRANCH_ENDS: Final = (Exception, asyncio.CancelledError)
"""What a branch may end with: a retriever of somebody's own may raise the second, too."""

_URL_SECRETS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]{0,15}://)(?:[^\s/@]+@)?(?P<place>[^\s?#\"'<>]*)(?:[?#][^\s\"'<>]*)?", re.IGNORECASE
)
_KEYS = re.compile(r"\b(?:sk|pk|cl|key|token|bearer)[-_ ][\w.-]{12,}", re.IGNORECASE)


def branch_failure(error: BaseException, seconds: float) -> str:
    """The kind and the words of ``error``, which ended a branch that was allowed ``seconds``.

    Raises ``error`` again where the run itself is being cancelled.
    """
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error
    if isinstance(error, TimeoutError) and not str(error):
        return f"{type(error).__name__}: no result within {seconds} s"
    return f"{type(error).__name__}: {without_secrets(str(error))}"


def without_secrets(text: str) -> str:
    """``text`` without credentials and parameters of addresses, and without what looks like a key."""
    return _KEYS.sub("***", _URL_SECRETS.sub(r"\g<scheme>\g<place>", text))
