"""The graph ``step_back``: the question and a more general one searched in parallel, answered from both."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer

from citeloop.graph.binding import bind
from citeloop.graph.multi_query_edges import fan_out_both_questions, route_after_pair_documents
from citeloop.graph.multi_query_graph import MultiQueryGraph, MultiQueryParts
from citeloop.nodes.admit_question import admit_question
from citeloop.nodes.answer_with_background import answer_with_background
from citeloop.nodes.ask_step_back import ask_step_back
from citeloop.nodes.check_citations import check_citations
from citeloop.nodes.pair_documents import pair_documents
from citeloop.nodes.refuse_answer import refuse_answer
from citeloop.nodes.return_response import return_response
from citeloop.nodes.search_documents import search_documents
from citeloop.prompts.library import load_prompt
from citeloop.state.graph_state import QueryOutput
from citeloop.state.models import RetrievalStrategy
from citeloop.state.multi_query_config import StepBackConfig
from citeloop.state.multi_query_state import MultiQueryInput, StepBackState
from citeloop.verification.draft_verifier import DraftVerifier


def build_step_back_graph(
    llm: BaseChatModel,
    retriever: BaseRetriever,
    config: StepBackConfig | None = None,
    *,
    verifier: DraftVerifier | None = None,
    checkpointer: Checkpointer = None,
) -> MultiQueryGraph:
    """The compiled graph ``step_back`` (multi-query specification, Step-back query); ``context`` ``StepBackConfig``.

    One step-back question, two retrievals, one generation. Citations, ``verifier`` and errors are those of
    ``build_rag_fusion_graph``.
    """
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        StepBackState, context_schema=StepBackConfig, input_schema=MultiQueryInput, output_schema=QueryOutput
    )
    p, answer_prompt = MultiQueryParts.of(llm, retriever, verifier), load_prompt("answer_with_background")
    graph.add_node("admit_question", bind(admit_question))
    graph.add_node("ask_step_back", bind(ask_step_back, caller=p.caller, prompt=load_prompt("step_back")))
    graph.add_node("search_documents", bind(search_documents, search=p.search))
    graph.add_node("pair_documents", bind(pair_documents, prompt=answer_prompt))
    graph.add_node("answer_with_background", bind(answer_with_background, caller=p.caller, prompt=answer_prompt))
    graph.add_node("check_citations", bind(check_citations, check=p.check))
    graph.add_node("refuse_answer", bind(refuse_answer), input_schema=StepBackState)
    graph.add_node("return_response", bind(return_response, strategy=RetrievalStrategy.STEP_BACK))

    graph.add_edge(START, "admit_question")
    graph.add_edge("admit_question", "ask_step_back")
    graph.add_conditional_edges("ask_step_back", fan_out_both_questions, ["search_documents"])
    graph.add_edge("search_documents", "pair_documents")
    graph.add_conditional_edges("pair_documents", route_after_pair_documents)
    graph.add_edge("answer_with_background", "check_citations")
    graph.add_edge("check_citations", "return_response")
    graph.add_edge("refuse_answer", "return_response")
    graph.add_edge("return_response", END)

    return MultiQueryGraph.configured(
        graph.compile(checkpointer=checkpointer, name="step_back"), config or StepBackConfig()
    )
