"""What the query graph is built of."""

from dataclasses import dataclass, field

from langchain_core.language_models import BaseChatModel

from citeloop.governance.door import Door
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.nodes.analyze_query import Analyzer
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.rerank import Reranker
from citeloop.state.config import RAGConfig
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.workers import WorkerPool


@dataclass(frozen=True, slots=True)
class QueryParts:
    """What the query graph is built of. All blocking parts run in ``workers``, never in the event loop."""

    store: HierarchicalKnowledgeStore
    searcher: HybridSearcher
    reader: PassageReader
    analyzer: Analyzer
    reranker: Reranker
    llm: BaseChatModel
    verifier: DraftVerifier
    door: Door
    workers: WorkerPool
    config: RAGConfig = field(default_factory=RAGConfig)
    """Settings of runs that bring none of their own."""
    expose_steps: bool = True
    """Whether drafts, verdicts and ranked lists are kept on threads, for step debugging."""
