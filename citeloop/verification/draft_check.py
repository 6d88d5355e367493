"""The check of a draft that is not corrected: who makes it, and from where on it passes."""

from collections.abc import Sequence
from dataclasses import dataclass

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage, Verdict
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.verification.verifier import Verifier
from citeloop.workers import WorkerPool

_BY_WORDS = RAGConfig(similarity_threshold=0.5, confidence_threshold=0.05)
"""A paraphrase keeps half of a claim's words or so; a claim without a citation leaves no confidence."""


@dataclass(frozen=True, slots=True)
class DraftCheck:
    """Checks drafts in worker threads."""

    verifier: DraftVerifier
    settings: RAGConfig
    workers: WorkerPool

    @classmethod
    def of(cls, verifier: DraftVerifier | None, workers: WorkerPool) -> "DraftCheck":
        """By ``verifier`` at the usual thresholds; by words where there is none."""
        if verifier is None:
            return cls(Verifier.by_words(), _BY_WORDS, workers)
        return cls(verifier, RAGConfig(), workers)

    async def verify(self, question: str, draft: str, passages: Sequence[Passage]) -> Verdict:
        """The verdict on ``draft``, whose citations name ``passages``."""
        return await self.workers.run(self.verifier.verify, question, draft, passages, self.settings)
