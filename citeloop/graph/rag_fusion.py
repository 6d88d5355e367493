"""The graph ``rag_fusion``: several wordings of a question searched in parallel, their ranked lists fused."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer

from citeloop.graph.binding import bind
from citeloop.graph.multi_query_edges import fan_out_queries, route_after_fuse_documents
from citeloop.graph.multi_query_graph import MultiQueryGraph, MultiQueryParts
from citeloop.nodes.admit_question import admit_question
from citeloop.nodes.answer_from_documents import answer_from_documents
from citeloop.nodes.check_citations import check_citations
from citeloop.nodes.fuse_documents import fuse_documents
from citeloop.nodes.refuse_answer import refuse_answer
from citeloop.nodes.return_response import return_response
from citeloop.nodes.rewrite_query import rewrite_query
from citeloop.nodes.search_documents import search_documents
from citeloop.prompts.library import load_prompt
from citeloop.state.graph_state import QueryOutput
from citeloop.state.models import RetrievalStrategy
from citeloop.state.multi_query_config import RagFusionConfig
from citeloop.state.multi_query_state import MultiQueryInput, RagFusionState
from citeloop.verification.draft_verifier import DraftVerifier


def build_rag_fusion_graph(
    llm: BaseChatModel,
    retriever: BaseRetriever,
    config: RagFusionConfig | None = None,
    *,
    verifier: DraftVerifier | None = None,
    checkpointer: Checkpointer = None,
) -> MultiQueryGraph:
    """The compiled graph ``rag_fusion`` (multi-query specification, RAG-Fusion); ``context`` ``RagFusionConfig``.

    One fan-out, one fusion, one generation. Citations name documents by the retriever's ids, as in ``[D7]``; without
    ``verifier`` they are checked by the words that claim and document share. Runs raise ``InvalidRequest``,
    ``SearchFailed`` when every query dropped out, or a ``ModelError`` of the generator.

        graph = build_rag_fusion_graph(llm=model, retriever=store.as_retriever())
        graph.invoke({"question": "How long is parental leave?"})["answer"]
    """
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        RagFusionState, context_schema=RagFusionConfig, input_schema=MultiQueryInput, output_schema=QueryOutput
    )
    p, answer_prompt = MultiQueryParts.of(llm, retriever, verifier), load_prompt("fusion_answer")
    graph.add_node("admit_question", bind(admit_question))
    graph.add_node("rewrite_query", bind(rewrite_query, caller=p.caller, prompt=load_prompt("query_rewriter")))
    graph.add_node("search_documents", bind(search_documents, search=p.search))
    graph.add_node("fuse_documents", bind(fuse_documents, prompt=answer_prompt))
    graph.add_node("answer_from_documents", bind(answer_from_documents, caller=p.caller, prompt=answer_prompt))
    graph.add_node("check_citations", bind(check_citations, check=p.check))
    graph.add_node("refuse_answer", bind(refuse_answer), input_schema=RagFusionState)
    graph.add_node("return_response", bind(return_response, strategy=RetrievalStrategy.RAG_FUSION))

    graph.add_edge(START, "admit_question")
    graph.add_edge("admit_question", "rewrite_query")
    graph.add_conditional_edges("rewrite_query", fan_out_queries, ["search_documents"])
    graph.add_edge("search_documents", "fuse_documents")
    graph.add_conditional_edges("fuse_documents", route_after_fuse_documents)
    graph.add_edge("answer_from_documents", "check_citations")
    graph.add_edge("check_citations", "return_response")
    graph.add_edge("refuse_answer", "return_response")
    graph.add_edge("return_response", END)

    return MultiQueryGraph.configured(
        graph.compile(checkpointer=checkpointer, name="rag_fusion"), config or RagFusionConfig()
    )
