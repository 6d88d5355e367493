"""The graph ``sub_questions``: a question in parts, each answered from its own retrieval, the answers combined."""

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer

from citeloop.graph.binding import bind
from citeloop.graph.multi_query_edges import fan_out_sub_questions, route_after_gather_sub_answers
from citeloop.graph.multi_query_graph import MultiQueryGraph, MultiQueryParts
from citeloop.nodes.admit_question import admit_question
from citeloop.nodes.answer_sub_question import answer_sub_question
from citeloop.nodes.check_citations import check_citations
from citeloop.nodes.combine_sub_answers import combine_sub_answers
from citeloop.nodes.decompose_question import decompose_question
from citeloop.nodes.gather_sub_answers import gather_sub_answers
from citeloop.nodes.refuse_answer import refuse_answer
from citeloop.nodes.return_response import return_response
from citeloop.prompts.library import load_prompt
from citeloop.state.graph_state import QueryOutput
from citeloop.state.models import RetrievalStrategy
from citeloop.state.multi_query_config import SubQuestionsConfig
from citeloop.state.multi_query_state import MultiQueryInput, SubQuestionsState
from citeloop.verification.draft_verifier import DraftVerifier


def build_sub_questions_graph(
    llm: BaseChatModel,
    retriever: BaseRetriever,
    config: SubQuestionsConfig | None = None,
    *,
    verifier: DraftVerifier | None = None,
    checkpointer: Checkpointer = None,
) -> MultiQueryGraph:
    """The compiled graph ``sub_questions`` (multi-query specification, Sub-questions); ``context``
    ``SubQuestionsConfig``.

    One split, one branch a sub-question, one combination; the response holds the ``sub_answers``. Citations,
    ``verifier`` and errors are those of ``build_rag_fusion_graph``.
    """
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        SubQuestionsState, context_schema=SubQuestionsConfig, input_schema=MultiQueryInput, output_schema=QueryOutput
    )
    p = MultiQueryParts.of(llm, retriever, verifier)
    answer_branch = bind(
        answer_sub_question, search=p.search, caller=p.caller, check=p.check, prompt=load_prompt("sub_answer")
    )
    graph.add_node("admit_question", bind(admit_question))
    graph.add_node("decompose_question", bind(decompose_question, caller=p.caller, prompt=load_prompt("decomposer")))
    graph.add_node("answer_sub_question", answer_branch)
    graph.add_node("gather_sub_answers", bind(gather_sub_answers))
    graph.add_node("combine_sub_answers", bind(combine_sub_answers, caller=p.caller, prompt=load_prompt("combiner")))
    graph.add_node("check_citations", bind(check_citations, check=p.check))
    graph.add_node("refuse_answer", bind(refuse_answer), input_schema=SubQuestionsState)
    graph.add_node("return_response", bind(return_response, strategy=RetrievalStrategy.SUB_QUESTIONS))

    graph.add_edge(START, "admit_question")
    graph.add_edge("admit_question", "decompose_question")
    graph.add_conditional_edges("decompose_question", fan_out_sub_questions, ["answer_sub_question"])
    graph.add_edge("answer_sub_question", "gather_sub_answers")
    graph.add_conditional_edges("gather_sub_answers", route_after_gather_sub_answers)
    graph.add_edge("combine_sub_answers", "check_citations")
    graph.add_edge("check_citations", "return_response")
    graph.add_edge("refuse_answer", "return_response")
    graph.add_edge("return_response", END)

    return MultiQueryGraph.configured(
        graph.compile(checkpointer=checkpointer, name="sub_questions"), config or SubQuestionsConfig()
    )
