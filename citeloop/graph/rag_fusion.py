"""The graph ``rag_fusion``: several wordings of a question searched in parallel, their ranked lists fused."""

import functools

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START
from langgraph.types import Checkpointer

from citeloop.graph.binding import bind
from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.graph.multi_query_edges import fan_out_queries, route_after_fuse_documents
from citeloop.graph.multi_query_parts import MultiQueryParts
from citeloop.nodes.admit_question import admit_question
from citeloop.nodes.answer_from_documents import answer_from_documents
from citeloop.nodes.check_citations import check_citations
from citeloop.nodes.fuse_documents import fuse_documents
from citeloop.nodes.refuse_answer import refuse_answer
from citeloop.nodes.return_response import return_response
from citeloop.nodes.rewrite_query import rewrite_query
from citeloop.nodes.search_documents import search_documents
from citeloop.prompts.library import load_prompt
from citeloop.state.models import RetrievalStrategy
from citeloop.state.multi_query_config import RagFusionConfig
from citeloop.state.multi_query_state import DocumentSearchTask, MultiQueryState
from citeloop.verification.draft_verifier import DraftVerifier


def build_rag_fusion_graph(
    llm: BaseChatModel,
    retriever: BaseRetriever,
    config: RagFusionConfig | None = None,
    *,
    verifier: DraftVerifier | None = None,
    checkpointer: Checkpointer = None,
) -> ConfiguredGraph[RagFusionConfig]:
    """The compiled graph ``rag_fusion`` (multi-query specification, RAG-Fusion); ``context`` ``RagFusionConfig``.

    One fan-out, one fusion, one generation. Citations name documents by the retriever's ids, as in ``[D7]``; without
    ``verifier`` they are checked by the words that claim and document share. Runs raise ``InvalidRequest``,
    ``SearchFailed`` when every query dropped out, or a ``ModelError`` of the generator.

        graph = build_rag_fusion_graph(llm=model, retriever=store.as_retriever())
        graph.invoke({"question": "How long is parental leave?"})["answer"]
    """
    return assemble_rag_fusion_graph(
        MultiQueryParts.of(llm, retriever, verifier), config or RagFusionConfig(), checkpointer
    )


def assemble_rag_fusion_graph(
    parts: MultiQueryParts, config: RagFusionConfig, checkpointer: Checkpointer = None
) -> ConfiguredGraph[RagFusionConfig]:
    """As ``build_rag_fusion_graph``, of parts of any kind; a door among them makes it an ``AuditedGraph``."""
    p, state = parts, parts.schema(MultiQueryState)
    graph = p.empty_graph(state, RagFusionConfig)
    node = functools.partial(graph.add_node, input_schema=state)
    inside = functools.partial(bind, behind=p.door, quiet=not p.expose_steps)
    answer_prompt = load_prompt("fusion_answer")
    node("admit_question", bind(admit_question, quiet=not p.expose_steps, search=p.search, door=p.door))
    node("rewrite_query", inside(rewrite_query, caller=p.caller, prompt=load_prompt("query_rewriter")))
    node("search_documents", inside(search_documents, search=p.search), input_schema=DocumentSearchTask)
    node("fuse_documents", inside(fuse_documents, prompt=answer_prompt))
    node("answer_from_documents", inside(answer_from_documents, caller=p.caller, prompt=answer_prompt))
    node("check_citations", inside(check_citations, check=p.check))
    node("refuse_answer", inside(refuse_answer))
    node(
        "return_response",
        inside(return_response, strategy=RetrievalStrategy.RAG_FUSION, door=p.door, expose_steps=p.expose_steps),
    )

    graph.add_edge(START, "admit_question")
    graph.add_edge("admit_question", "rewrite_query")
    graph.add_conditional_edges("rewrite_query", fan_out_queries, ["search_documents"])
    graph.add_edge("search_documents", "fuse_documents")
    graph.add_conditional_edges("fuse_documents", route_after_fuse_documents)
    graph.add_edge("answer_from_documents", "check_citations")
    graph.add_edge("check_citations", "return_response")
    graph.add_edge("refuse_answer", "return_response")
    graph.add_edge("return_response", END)

    return p.compiled(graph, "rag_fusion", config, checkpointer)
