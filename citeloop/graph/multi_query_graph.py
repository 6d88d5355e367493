"""What the three multi-query graphs are built of, and how they run."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from citeloop.governance.run_record import RunRecord, attach_run_record
from citeloop.graph.run_settings import read_settings
from citeloop.graph.sync_bridge import BridgedGraph
from citeloop.models.chat_caller import ChatCaller
from citeloop.retrieval.document_search import DocumentSearch, RetrieverSearch
from citeloop.state.multi_query_config import MultiQueryConfig
from citeloop.verification.draft_check import DraftCheck
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.workers import WorkerPool

_THREADS = 32
"""For retrievers and models that know no ``await``; threads start when first needed."""


@dataclass(frozen=True, slots=True)
class MultiQueryParts:
    """Collaborators of the nodes."""

    search: DocumentSearch
    caller: ChatCaller
    check: DraftCheck

    @classmethod
    def of(cls, llm: BaseChatModel, retriever: BaseRetriever, verifier: DraftVerifier | None) -> "MultiQueryParts":
        """Those over any chat model and any retriever; without ``verifier``, citations are checked by words."""
        workers = WorkerPool(_THREADS)
        return cls(
            search=RetrieverSearch(retriever, workers),
            caller=ChatCaller(llm, workers),
            check=DraftCheck.of(verifier, workers),
        )


class MultiQueryGraph(BridgedGraph):
    """Runs with settings of its own where a run brings none, bounds its concurrency, and times its nodes."""

    _default_context: MultiQueryConfig

    @classmethod
    def configured(cls, compiled: CompiledStateGraph[Any, Any, Any, Any], default_context: MultiQueryConfig) -> Self:
        """The graph ``compiled``; runs without a context of their own take ``default_context``."""
        graph = cls.over(compiled)
        graph._default_context = default_context
        return graph

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, *, context: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        """As ``CompiledStateGraph.astream``; see there for the options. ``context`` may be plain JSON."""
        settings = self._settings(context)
        bounded = RunnableConfig(**{"max_concurrency": settings.max_concurrency, **(config or {})})
        run = super().astream(input, attach_run_record(bounded, RunRecord()), context=settings, **options)
        async for chunk in run:
            yield chunk

    def _settings(self, context: Any) -> MultiQueryConfig:
        kind = type(self._default_context)
        if not context or not isinstance(context, kind | Mapping):  # a parent graph's context is none of ours
            return self._default_context
        return read_settings(context, kind)
