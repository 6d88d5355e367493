"""The graphs that ``langgraph.json`` names: made at first use, over one engine a process. Importing this is free."""

import asyncio
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citeloop.engine import RAGQueryEngine
    from citeloop.graph.audited_graph import AuditedGraph

_opening = Lock()
_engine: "RAGQueryEngine | None" = None


async def query() -> "AuditedGraph":
    """The query graph over the engine that the process settings describe; opened off the server's event loop."""
    return (await asyncio.to_thread(_open_once)).graph


def _open_once() -> "RAGQueryEngine":
    global _engine
    with _opening:
        if _engine is None:
            from citeloop.engine import open_engine

            _engine = open_engine()
        return _engine
