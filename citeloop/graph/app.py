"""The graphs that ``langgraph.json`` names: made at first use, over one engine a process. Importing this is free."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citeloop.engine import RAGQueryEngine
    from citeloop.graph.audited_graph import AuditedGraph


@cache
def _engine() -> "RAGQueryEngine":
    from citeloop.engine import open_engine

    return open_engine()


def query() -> "AuditedGraph":
    """The query graph over the engine that the process settings describe."""
    return _engine().graph
