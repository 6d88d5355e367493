"""What nodes ask of a verifier; ``verification.verifier.Verifier`` is the one that ships."""

from collections.abc import Sequence
from typing import Protocol

from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Passage, Verdict


class DraftVerifier(Protocol):
    """Checks a draft against the passages that its numbers point into."""

    def verify(self, question: str, draft: str, passages: Sequence[Passage], settings: RAGConfig) -> Verdict:
        """Parse, check and weigh ``draft``. Blocking."""
