"""What indexing tells: as it goes, and at the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """How far a run has come."""

    documents: int
    """Documents dealt with: stored, unchanged or skipped."""
    total: int
    """Documents known of so far; grows while files that hold many are read."""
    chunks: int
    """Chunks stored in this run."""
    current: str
    """Uri of the document last dealt with."""


OnProgress: TypeAlias = Callable[[IndexProgress], None]


@dataclass(slots=True)
class IndexReport:
    """What a run did to a corpus, in documents."""

    corpus: str
    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[str] = field(default_factory=list)
    """One line per file or part of it that gave no document, saying which and why."""
    chunks: int = 0
    """Chunks stored in this run."""
    seconds: float = 0.0
