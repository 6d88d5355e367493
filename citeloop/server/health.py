"""Whether the parts that an answer needs are there and answer, each with the time it took."""

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from citeloop.errors import CiteloopError
from citeloop.state.models import UserContext

if TYPE_CHECKING:
    from citeloop.engine import RAGQueryEngine

_log = logging.getLogger(__name__)


class PartHealth(BaseModel):
    """How one part is."""

    ok: bool
    ms: float = Field(description="Milliseconds that the check took.")
    error: str | None = Field(default=None, description="Code of what is wrong; the server's log has the whole of it.")


class Health(BaseModel):
    """How all parts are."""

    ok: bool
    writer: str = Field(description="What writes the answers: endpoint (configured; not called here), or extractive.")
    parts: dict[str, PartHealth]


def check_health(engine: "RAGQueryEngine", caller: UserContext, *, uses_chat_endpoint: bool) -> Health:
    """Try the store, the audit log, the embedding model, and both search indexes of one corpus open to ``caller``.

    The chat endpoint is not called: a probe every few seconds must cost nothing. Blocking. Tells no paths and no text.
    """

    def search_vectors() -> None:
        vector = engine.embedder.embed(["health"])[0]
        for corpus in engine.store.open_corpora(None, caller)[:1]:
            engine.vector_index.search(corpus, vector, 1)

    def search_words() -> None:
        for corpus in engine.store.open_corpora(None, caller)[:1]:
            engine.lexical_index.search(corpus, {"health": 1.0}, 1)

    checks: dict[str, Callable[[], object]] = {
        "store": lambda: engine.store.open_corpora(None, caller),
        "audit": engine.audit.require_writable,
        "embedder": lambda: engine.embedder.embed([f"health {time.time_ns()}"]),  # a text not embedded before
        "vector_index": search_vectors,
        "lexical_index": search_words,
    }
    parts = {name: _try(name, check) for name, check in checks.items()}
    return Health(
        ok=all(part.ok for part in parts.values()),
        writer="endpoint" if uses_chat_endpoint else "extractive",
        parts=parts,
    )


def _try(name: str, check: Callable[[], object]) -> PartHealth:
    started, error = time.perf_counter(), None
    try:
        check()
    except Exception as raised:  # whatever is wrong with one part, the others are told
        _log.error("%s is not well: %s: %s", name, type(raised).__name__, raised)
        error = raised.code if isinstance(raised, CiteloopError) else type(raised).__name__
    return PartHealth(ok=error is None, ms=round(1000 * (time.perf_counter() - started), 1), error=error)
