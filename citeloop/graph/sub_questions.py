"""The graph ``sub_questions``: a question in parts, each answered from its own retrieval, the answers combined."""

import functools

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START
from langgraph.types import Checkpointer

from citeloop.graph.binding import bind
from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.graph.multi_query_edges import fan_out_sub_questions, route_after_gather_sub_answers
from citeloop.graph.multi_query_parts import MultiQueryParts
from citeloop.nodes.admit_question import admit_question
from citeloop.nodes.answer_sub_question import answer_sub_question
from citeloop.nodes.check_citations import check_citations
from citeloop.nodes.combine_sub_answers import combine_sub_answers
from citeloop.nodes.decompose_question import decompose_question
from citeloop.nodes.gather_sub_answers import gather_sub_answers
from citeloop.nodes.refuse_answer import refuse_answer
from citeloop.nodes.return_response import return_response
from citeloop.prompts.library import load_prompt
from citeloop.state.graph_state import SubQuestionTask
from citeloop.state.models import RetrievalStrategy
from citeloop.state.multi_query_config import SubQuestionsConfig
from citeloop.state.multi_query_state import MultiQueryState
from citeloop.verification.draft_verifier import DraftVerifier


def build_sub_questions_graph(
    llm: BaseChatModel,
    retriever: BaseRetriever,
    config: SubQuestionsConfig | None = None,
    *,
    verifier: DraftVerifier | None = None,
    checkpointer: Checkpointer = None,
) -> ConfiguredGraph[SubQuestionsConfig]:
    """The compiled graph ``sub_questions`` (multi-query specification, Sub-questions); ``context``
    ``SubQuestionsConfig``.

    One split, one branch a sub-question, one combination; the response holds the ``sub_answers``. Citations,
    ``verifier`` and errors are those of ``build_rag_fusion_graph``.
    """
    return assemble_sub_questions_graph(
        MultiQueryParts.of(llm, retriever, verifier), config or SubQuestionsConfig(), checkpointer
    )


def assemble_sub_questions_graph(
    parts: MultiQueryParts, config: SubQuestionsConfig, checkpointer: Checkpointer = None
) -> ConfiguredGraph[SubQuestionsConfig]:
    """As ``build_sub_questions_graph``, of parts of any kind; a door among them makes it an ``AuditedGraph``."""
    p, state = parts, parts.schema(MultiQueryState)
    graph = p.empty_graph(state, SubQuestionsConfig)
    node = functools.partial(graph.add_node, input_schema=state)
    inside = functools.partial(bind, behind=p.door, quiet=not p.expose_steps)
    answer_branch = inside(
        answer_sub_question, search=p.search, caller=p.caller, check=p.check, prompt=load_prompt("sub_answer")
    )
    node("admit_question", bind(admit_question, quiet=not p.expose_steps, search=p.search, door=p.door))
    node("decompose_question", inside(decompose_question, caller=p.caller, prompt=load_prompt("decomposer")))
    node("answer_sub_question", answer_branch, input_schema=SubQuestionTask)
    node("gather_sub_answers", inside(gather_sub_answers))
    node("combine_sub_answers", inside(combine_sub_answers, caller=p.caller, prompt=load_prompt("combiner")))
    node("check_citations", inside(check_citations, check=p.check))
    node("refuse_answer", inside(refuse_answer))
    node(
        "return_response",
        inside(return_response, strategy=RetrievalStrategy.SUB_QUESTIONS, door=p.door, expose_steps=p.expose_steps),
    )

    graph.add_edge(START, "admit_question")
    graph.add_edge("admit_question", "decompose_question")
    graph.add_conditional_edges("decompose_question", fan_out_sub_questions, ["answer_sub_question"])
    graph.add_edge("answer_sub_question", "gather_sub_answers")
    graph.add_conditional_edges("gather_sub_answers", route_after_gather_sub_answers)
    graph.add_edge("combine_sub_answers", "check_citations")
    graph.add_edge("check_citations", "return_response")
    graph.add_edge("refuse_answer", "return_response")
    graph.add_edge("return_response", END)

    return p.compiled(graph, "sub_questions", config, checkpointer)
