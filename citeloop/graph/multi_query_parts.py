"""What the three multi-query graphs are built of: over a retriever of the user's own, or behind the engine's door."""

from dataclasses import dataclass
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import StateGraph
from langgraph.types import Checkpointer

from citeloop.governance.door import Door
from citeloop.graph.audited_graph import AuditedGraph
from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.graph.step_channels import without_steps
from citeloop.models.chat_caller import ChatCaller
from citeloop.retrieval.document_search import DocumentSearch, RetrieverSearch
from citeloop.state.graph_state import QueryInput, QueryOutput
from citeloop.state.multi_query_config import MultiQueryConfig
from citeloop.state.multi_query_state import MultiQueryInput
from citeloop.verification.draft_check import DraftCheck
from citeloop.verification.draft_verifier import DraftVerifier
from citeloop.workers import WorkerPool

_THREADS = 256
"""For retrievers and models that know no ``await``: as many as branches may run; threads start when first needed."""
_CHECKING_THREADS = 4
"""Apart from those, so that a search that hangs holds up no check."""

Config = TypeVar("Config", bound=MultiQueryConfig)


@dataclass(frozen=True, slots=True)
class MultiQueryParts:
    """Collaborators of the nodes.

    With a ``door``, questions come with corpora and a reason, and leave both audit rows, as in the ``query`` graph.
    """

    search: DocumentSearch
    caller: ChatCaller
    check: DraftCheck
    door: Door | None = None
    expose_steps: bool = True
    """Whether drafts and ranked lists are kept on threads, for step debugging."""

    @classmethod
    def of(cls, llm: BaseChatModel, retriever: BaseRetriever, verifier: DraftVerifier | None) -> "MultiQueryParts":
        """Those over any chat model and any retriever; without ``verifier``, citations are checked by words."""
        workers = WorkerPool(_THREADS)
        return cls(
            search=RetrieverSearch(retriever, workers),
            caller=ChatCaller(llm, workers),
            check=DraftCheck.of(verifier, WorkerPool(_CHECKING_THREADS)),
        )

    def schema(self, state: type) -> type:
        """The state of a graph of these parts."""
        return state if self.expose_steps else without_steps(state)

    def empty_graph(self, state: type, settings: type[MultiQueryConfig]) -> StateGraph[Any, Any, Any, Any]:
        """A graph without nodes that takes and gives what the others do."""
        inputs = MultiQueryInput if self.door is None else QueryInput
        return StateGraph(state, context_schema=settings, input_schema=inputs, output_schema=QueryOutput)

    def compiled(
        self, graph: StateGraph[Any, Any, Any, Any], name: str, config: Config, checkpointer: Checkpointer
    ) -> ConfiguredGraph[Config]:
        """``graph`` as it runs: audited where there is a door; ``config`` for runs that bring none of their own."""
        compiled = graph.compile(checkpointer=checkpointer, name=name)
        if self.door is None:
            return ConfiguredGraph.configured(compiled, config)
        if not self.expose_steps:
            compiled.stream_channels = compiled.output_channels
        return AuditedGraph.keeping(compiled, self.door, config, resumable=self.expose_steps)
