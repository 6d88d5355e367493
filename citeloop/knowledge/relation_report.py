"""What reading relations tells: before it starts, as it goes, and at the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(slots=True)
class RelationReport:
    """What a run did to a corpus, and what it cost. Told as progress, too, while it grows."""

    corpus: str
    to_read: int
    """Chunks without relations when the run began: what it sends, one call each."""
    chunks: int = 0
    """Chunks dealt with: read, or failed."""
    relations: int = 0
    failed: int = 0
    """Chunks that could not be read; the next run tries them again."""
    failures: dict[str, int] = field(default_factory=dict)
    """Why, each reason with its number of chunks."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


OnRelationProgress: TypeAlias = Callable[[RelationReport], None]
