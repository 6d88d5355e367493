"""The graph ``step_back``: the question and a more general one searched in parallel, answered from both."""

import functools

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START
from langgraph.types import Checkpointer

from citeloop.graph.binding import bind
from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.graph.multi_query_edges import fan_out_queries, route_after_pair_documents
from citeloop.graph.multi_query_parts import MultiQueryParts
from citeloop.nodes.admit_question import admit_question
from citeloop.nodes.answer_with_background import answer_with_background
from citeloop.nodes.ask_step_back import ask_step_back
from citeloop.nodes.check_citations import check_citations
from citeloop.nodes.pair_documents import pair_documents
from citeloop.nodes.refuse_answer import refuse_answer
from citeloop.nodes.return_response import return_response
from citeloop.nodes.search_documents import search_documents
from citeloop.prompts.library import load_prompt
from citeloop.state.models import RetrievalStrategy
from citeloop.state.multi_query_config import StepBackConfig
from citeloop.state.multi_query_state import DocumentSearchTask, MultiQueryState
from citeloop.verification.draft_verifier import DraftVerifier


def build_step_back_graph(
    llm: BaseChatModel,
    retriever: BaseRetriever,
    config: StepBackConfig | None = None,
    *,
    verifier: DraftVerifier | None = None,
    checkpointer: Checkpointer = None,
) -> ConfiguredGraph[StepBackConfig]:
    """The compiled graph ``step_back`` (multi-query specification, Step-back query); ``context`` ``StepBackConfig``.

    One step-back question, two retrievals, one generation. Citations, ``verifier`` and errors are those of
    ``build_rag_fusion_graph``.
    """
    return assemble_step_back_graph(
        MultiQueryParts.of(llm, retriever, verifier), config or StepBackConfig(), checkpointer
    )


def assemble_step_back_graph(
    parts: MultiQueryParts, config: StepBackConfig, checkpointer: Checkpointer = None
) -> ConfiguredGraph[StepBackConfig]:
    """As ``build_step_back_graph``, of parts of any kind; a door among them makes it an ``AuditedGraph``."""
    p, state = parts, parts.schema(MultiQueryState)
    graph = p.empty_graph(state, StepBackConfig)
    node = functools.partial(graph.add_node, input_schema=state)
    inside = functools.partial(bind, behind=p.door, quiet=not p.expose_steps)
    answer_prompt = load_prompt("answer_with_background")
    node("admit_question", bind(admit_question, quiet=not p.expose_steps, search=p.search, door=p.door))
    node("ask_step_back", inside(ask_step_back, caller=p.caller, prompt=load_prompt("step_back")))
    node("search_documents", inside(search_documents, search=p.search), input_schema=DocumentSearchTask)
    node("pair_documents", inside(pair_documents, prompt=answer_prompt))
    node("answer_with_background", inside(answer_with_background, caller=p.caller, prompt=answer_prompt))
    node("check_citations", inside(check_citations, check=p.check))
    node("refuse_answer", inside(refuse_answer))
    node(
        "return_response",
        inside(return_response, strategy=RetrievalStrategy.STEP_BACK, door=p.door, expose_steps=p.expose_steps),
    )

    graph.add_edge(START, "admit_question")
    graph.add_edge("admit_question", "ask_step_back")
    graph.add_conditional_edges("ask_step_back", fan_out_queries, ["search_documents"])
    graph.add_edge("search_documents", "pair_documents")
    graph.add_conditional_edges("pair_documents", route_after_pair_documents)
    graph.add_edge("answer_with_background", "check_citations")
    graph.add_edge("check_citations", "return_response")
    graph.add_edge("refuse_answer", "return_response")
    graph.add_edge("return_response", END)

    return p.compiled(graph, "step_back", config, checkpointer)
