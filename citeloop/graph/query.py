"""The query graph: adaptive retrieval, a cited draft, validation, and a bounded correction loop."""

from typing import Any

from langgraph.graph import StateGraph
from langgraph.types import Checkpointer

from citeloop.graph.audited_graph import AuditedGraph
from citeloop.graph.query_edges import add_query_edges
from citeloop.graph.query_nodes import add_query_nodes
from citeloop.graph.query_parts import QueryParts
from citeloop.graph.step_channels import without_steps
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import QueryInput, QueryOutput, QueryState


def build_query_graph(parts: QueryParts, checkpointer: Checkpointer = None) -> AuditedGraph[RAGConfig]:
    """The compiled graph ``query``; input ``QueryInput``, ``context`` ``RAGConfig``.

    One way through the house: the door, the analysis, the searches side by side, one ranking, one context, a draft, its
    validation; then out, past a person where one is to decide, or once more around, ``max_correction_rounds`` times at
    the most. Passages that leave a question open, or are no good, are searched for again first: hop by hop in
    ``multi_hop``, once in other words otherwise. Sub-questions take it each by itself up to a checked answer, and are
    combined into the draft; so are the groups of passages of a full scan, where one prompt does not hold them.
    """
    state = QueryState if parts.expose_steps else without_steps(QueryState)
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        state, context_schema=RAGConfig, input_schema=QueryInput, output_schema=QueryOutput
    )
    add_query_nodes(graph, parts, state)
    add_query_edges(graph)
    compiled = graph.compile(checkpointer=checkpointer, name="query")
    if not parts.expose_steps:
        compiled.stream_channels = compiled.output_channels
    return AuditedGraph.keeping(compiled, parts.door, parts.config, resumable=parts.expose_steps)
