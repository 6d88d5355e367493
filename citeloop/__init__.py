"""citeloop: ask your documents; every claim is cited, every citation is checked, and the loop that corrects is bounded.

from citeloop import open_engine
engine = open_engine("~/.citeloop")
response = engine.query("How long is parental leave?", access_reason="onboarding")
print(response.to_markdown())
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citeloop.engine import RAGQueryEngine, open_engine
    from citeloop.governance.access import OwnersAndGrants
    from citeloop.graph.query import QueryParts, build_query_graph
    from citeloop.state.config import RAGConfig
    from citeloop.state.models import (
        Citation,
        ClaimVerification,
        QueryAnalysis,
        QueryIntent,
        RAGResponse,
        RetrievalContext,
        RetrievalStrategy,
        SourceReference,
        UserContext,
    )

_HOMES = {
    "RAGQueryEngine": "citeloop.engine",
    "open_engine": "citeloop.engine",
    "OwnersAndGrants": "citeloop.governance.access",
    "QueryParts": "citeloop.graph.query",
    "build_query_graph": "citeloop.graph.query",
    "RAGConfig": "citeloop.state.config",
    "Citation": "citeloop.state.models",
    "ClaimVerification": "citeloop.state.models",
    "QueryAnalysis": "citeloop.state.models",
    "QueryIntent": "citeloop.state.models",
    "RAGResponse": "citeloop.state.models",
    "RetrievalContext": "citeloop.state.models",
    "RetrievalStrategy": "citeloop.state.models",
    "SourceReference": "citeloop.state.models",
    "UserContext": "citeloop.state.models",
}

__all__ = [
    "Citation",
    "ClaimVerification",
    "OwnersAndGrants",
    "QueryAnalysis",
    "QueryIntent",
    "QueryParts",
    "RAGConfig",
    "RAGQueryEngine",
    "RAGResponse",
    "RetrievalContext",
    "RetrievalStrategy",
    "SourceReference",
    "UserContext",
    "build_query_graph",
    "open_engine",
]


def __getattr__(name: str) -> object:
    # `import citeloop` loads nothing: each name's module is imported when the name is first asked for.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'citeloop' has no attribute {name!r}")
