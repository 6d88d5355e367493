"""How much evidence fits before the generator."""

from collections.abc import Sequence
from typing import Protocol

from citeloop.errors import InvalidRequest

_ANSWER_SHARE = 4
"""The answer never takes more than this part of the window: a quarter."""


class ContextWindow(Protocol):
    """The settings that bound a prompt."""

    @property
    def max_context_tokens(self) -> int:
        """Tokens of the whole prompt and the answer."""

    @property
    def max_answer_tokens(self) -> int:
        """Tokens that the generator may write."""


def passage_budget(frame_tokens: int, settings: ContextWindow) -> int:
    """Tokens left for passages in ``max_context_tokens`` after the frame (instructions and question) and the answer.

    Raises ``InvalidRequest`` when the question leaves no room for evidence.
    """
    answer = answer_room(settings)
    left = settings.max_context_tokens - answer - frame_tokens
    if left <= 0:
        raise InvalidRequest(
            f"instructions and question take {frame_tokens} tokens and the answer {answer}, of max_context_tokens "
            f"{settings.max_context_tokens}; shorten the question or raise max_context_tokens"
        )
    return left


def answer_room(settings: ContextWindow) -> int:
    """Tokens that the generator may write: ``max_answer_tokens``, and never over a quarter of the window."""
    return min(settings.max_answer_tokens, settings.max_context_tokens // _ANSWER_SHARE)


def fit_in_budget(sizes: Sequence[int], budget: int) -> list[int]:
    """Indexes of the passages taken, in order: each that still fits, most relevant first. Never over ``budget``."""
    taken: list[int] = []
    for index, size in enumerate(sizes):
        if size <= budget:
            taken.append(index)
            budget -= size
    return taken
