"""A draft is checked while the model still writes it, so that little is left to do after its last word."""

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage
from citeloop.state.models import AnswerClaim
from citeloop.text.thinking import ThinkingStream
from citeloop.verification.answer_text.claim_stream import ClaimStream
from citeloop.verification.answer_text.claims import Claim
from citeloop.verification.claim_check import known_labels
from citeloop.workers import WorkerPool


@runtime_checkable
class SentenceVerifier(Protocol):
    """What a watch asks of a verifier; a ``DraftVerifier`` need not have it: its drafts are checked once, whole."""

    def check_sentences(
        self, sentences: Sequence[Claim], passages: Sequence[Passage], settings: RAGConfig
    ) -> list[AnswerClaim]:
        """Each sentence, or its clauses, with its verdict. Blocking."""


class DraftWatch:
    """Tells the verdict on each claim of a draft as early as it is known. An asynchronous context manager, which gives
    up what is still being checked when it is left early.

    The check of the whole draft comes afterwards all the same, and alone decides: it finds the vectors of the sentences
    remembered.
    """

    def __init__(
        self,
        verifier: SentenceVerifier,
        passages: Sequence[Passage],
        settings: RAGConfig,
        workers: WorkerPool,
        tell: Callable[[AnswerClaim, int], None],
    ) -> None:
        """``tell`` gets each claim, with its number from 1."""
        self._verifier, self._passages, self._settings = verifier, passages, settings
        self._workers, self._tell = workers, tell
        self._thinking, self._claims = ThinkingStream(), ClaimStream(known_labels(passages))
        self._waiting: list[Claim] = []
        self._told = 0
        self._checks: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._checks is not None:
            self._checks.cancel()
            await asyncio.gather(self._checks, return_exceptions=True)

    def hear(self, text: str) -> None:
        """The model wrote ``text``."""
        self._waiting += self._claims.feed(self._thinking.feed(text))
        if self._waiting and (self._checks is None or (self._checks.done() and not self._checks.exception())):
            self._checks = asyncio.create_task(self._check())

    async def finish(self) -> None:
        """Check the rest. Raises what a check raised."""
        if self._checks is not None:
            await self._checks
        self._waiting += self._claims.close()
        await self._check()

    async def _check(self) -> None:
        while self._waiting:
            sentences, self._waiting = self._waiting, []
            check = self._verifier.check_sentences
            for claim in await self._workers.run(check, sentences, self._passages, self._settings):
                self._told += 1
                self._tell(claim, self._told)
