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
    from citeloop.graph.query import build_query_graph
    from citeloop.graph.query_parts import QueryParts
    from citeloop.graph.rag_fusion import build_rag_fusion_graph
    from citeloop.graph.step_back import build_step_back_graph
    from citeloop.graph.sub_questions import build_sub_questions_graph
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
        SubAnswer,
        UserContext,
    )
    from citeloop.state.multi_query_config import RagFusionConfig, StepBackConfig, SubQuestionsConfig

_HOMES = {
    "RAGQueryEngine": "citeloop.engine",
    "open_engine": "citeloop.engine",
    "OwnersAndGrants": "citeloop.governance.access",
    "QueryParts": "citeloop.graph.query_parts",
    "build_query_graph": "citeloop.graph.query",
    "build_rag_fusion_graph": "citeloop.graph.rag_fusion",
    "build_step_back_graph": "citeloop.graph.step_back",
    "build_sub_questions_graph": "citeloop.graph.sub_questions",
    "RAGConfig": "citeloop.state.config",
    "Citation": "citeloop.state.models",
    "ClaimVerification": "citeloop.state.models",
    "QueryAnalysis": "citeloop.state.models",
    "QueryIntent": "citeloop.state.models",
    "RAGResponse": "citeloop.state.models",
    "RetrievalContext": "citeloop.state.models",
    "RetrievalStrategy": "citeloop.state.models",
    "SourceReference": "citeloop.state.models",
    "SubAnswer": "citeloop.state.models",
    "UserContext": "citeloop.state.models",
    "RagFusionConfig": "citeloop.state.multi_query_config",
    "StepBackConfig": "citeloop.state.multi_query_config",
    "SubQuestionsConfig": "citeloop.state.multi_query_config",
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
    "RagFusionConfig",
    "RetrievalContext",
    "RetrievalStrategy",
    "SourceReference",
    "StepBackConfig",
    "SubAnswer",
    "SubQuestionsConfig",
    "UserContext",
    "build_query_graph",
    "build_rag_fusion_graph",
    "build_step_back_graph",
    "build_sub_questions_graph",
    "open_engine",
]


def __getattr__(name: str) -> object:
    # `import citeloop` loads nothing: each name's module is imported when the name is first asked for.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'citeloop' has no attribute {name!r}")
