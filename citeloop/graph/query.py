"""The query graph: adaptive retrieval, a cited draft, validation, and a bounded correction loop."""

import functools
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.graph import END, START, StateGraph
from langgraph.types import Checkpointer

from citeloop.governance.door import Door
from citeloop.graph.audited_graph import AuditedGraph
from citeloop.graph.binding import bind
from citeloop.graph.edges import (
    fan_out_scan,
    fan_out_searches,
    route_after_analyze_query,
    route_after_assemble_context,
    route_after_authorize,
    route_after_compose_response,
    route_after_decompose_question,
    route_after_drop_invalid_sources,
    route_after_expand_context,
    route_after_gather_sub_answers,
    route_after_generate_answer,
    route_after_review_answer,
    route_after_validate_citations,
)
from citeloop.graph.hop_edges import (
    route_after_ask_follow_up,
    route_after_check_coverage,
    route_after_correct_retrieval,
    route_after_fuse_results,
    route_after_grade_passages,
    route_after_rerank_chunks,
)
from citeloop.graph.map_edges import fan_out_groups, route_after_gather_partial_answers
from citeloop.graph.step_channels import without_steps
from citeloop.graph.sub_question_branch import NodesInLine
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.chat_caller import ChatCaller
from citeloop.models.extractive import ExtractiveChatModel
from citeloop.nodes.analyze_query import Analyzer, analyze_query
from citeloop.nodes.ask_follow_up import ask_follow_up
from citeloop.nodes.ask_step_back import ask_step_back
from citeloop.nodes.assemble_context import assemble_context
from citeloop.nodes.audit_response import audit_response
from citeloop.nodes.authorize import authorize
from citeloop.nodes.check_coverage import check_coverage
from citeloop.nodes.combine_sub_answers import combine_sub_answers
from citeloop.nodes.compose_response import compose_response
from citeloop.nodes.correct_retrieval import correct_retrieval
from citeloop.nodes.decompose_question import decompose_question
from citeloop.nodes.diversify_chunks import diversify_chunks
from citeloop.nodes.drop_invalid_sources import drop_invalid_sources
from citeloop.nodes.expand_context import expand_context
from citeloop.nodes.fuse_results import fuse_results
from citeloop.nodes.gather_partial_answers import gather_partial_answers
from citeloop.nodes.gather_sub_answers import gather_sub_answers
from citeloop.nodes.generate_answer import generate_answer
from citeloop.nodes.grade_passages import grade_passages
from citeloop.nodes.group_passages import group_passages
from citeloop.nodes.map_group import map_group
from citeloop.nodes.plan_scan import plan_scan
from citeloop.nodes.plan_searches import plan_searches
from citeloop.nodes.refuse_answer import refuse_answer
from citeloop.nodes.reply_to_small_talk import reply_to_small_talk
from citeloop.nodes.rerank_chunks import rerank_chunks
from citeloop.nodes.rerank_follow_ups import rerank_follow_ups
from citeloop.nodes.research_sub_question import research_sub_question
from citeloop.nodes.resolve_follow_up import resolve_follow_up
from citeloop.nodes.review_answer import review_answer
from citeloop.nodes.rewrite_query import rewrite_query
from citeloop.nodes.scan_shard import scan_shard
from citeloop.nodes.search_corpus import search_corpus
from citeloop.nodes.validate_citations import validate_citations
from citeloop.nodes.walk_entities import walk_entities
from citeloop.prompts.library import load_prompt
from citeloop.retrieval.coverage import CoverageOrder
from citeloop.retrieval.entity_walk import EntityWalker
from citeloop.retrieval.hybrid import HybridSearcher
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.rerank import Reranker
from citeloop.retrieval.scan import CorpusScanner
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import (
    MapTask,
    QueryInput,
    QueryOutput,
    QueryState,
    ScanTask,
    SearchTask,
    SubQuestionTask,
)
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


def build_query_graph(parts: QueryParts, checkpointer: Checkpointer = None) -> AuditedGraph[RAGConfig]:
    """The compiled graph ``query``; input ``QueryInput``, ``context`` ``RAGConfig``.

    One way through the house: the door, the analysis, the searches side by side, one ranking, one context, a draft, its
    validation; then out, past a person where one is to decide, or once more around, ``max_correction_rounds`` times at
    the most. Passages that leave a question open, or are no good, are searched for again first: hop by hop in
    ``multi_hop``, once in other words otherwise. Sub-questions take it each by itself up to a checked answer, and are
    combined into the draft; so are the groups of passages of a full scan, where one prompt does not hold them.
    """
    p = parts
    state = QueryState if p.expose_steps else without_steps(QueryState)
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(
        state, context_schema=RAGConfig, input_schema=QueryInput, output_schema=QueryOutput
    )
    node = functools.partial(graph.add_node, input_schema=state)
    inside = functools.partial(bind, behind=p.door, quiet=not p.expose_steps)
    door = functools.partial(bind, quiet=not p.expose_steps)
    caller = ChatCaller(p.llm, p.workers)
    branch = NodesInLine(p.searcher, p.reader, p.reranker, caller, p.verifier, p.workers)
    node("authorize", door(authorize, store=p.store, door=p.door, workers=p.workers, least_review=p.config.review))
    node("resolve_follow_up", inside(resolve_follow_up, caller=caller, prompt=load_prompt("standalone_question")))
    analyze = inside(
        analyze_query, analyzer=p.analyzer, caller=caller, prompt=load_prompt("query_analyzer"), workers=p.workers
    )
    node("analyze_query", analyze)
    node("reply_to_small_talk", inside(reply_to_small_talk))
    node("rewrite_query", inside(rewrite_query, caller=caller, prompt=load_prompt("query_rewriter")))
    node("ask_step_back", inside(ask_step_back, caller=caller, prompt=load_prompt("step_back")))
    node("decompose_question", inside(decompose_question, caller=caller, prompt=load_prompt("decomposer")))
    node("research_sub_question", inside(research_sub_question, branch=branch), input_schema=SubQuestionTask)
    node("gather_sub_answers", inside(gather_sub_answers))
    node("combine_sub_answers", inside(combine_sub_answers, caller=caller, prompt=load_prompt("combiner")))
    node("plan_searches", inside(plan_searches, searcher=p.searcher, workers=p.workers))
    node("search_corpus", inside(search_corpus, searcher=p.searcher, workers=p.workers), input_schema=SearchTask)
    scanner = CorpusScanner(p.searcher)
    node("plan_scan", inside(plan_scan, scanner=scanner, workers=p.workers))
    node("scan_shard", inside(scan_shard, scanner=scanner, workers=p.workers), input_schema=ScanTask)
    node("fuse_results", inside(fuse_results))
    node("rerank_chunks", inside(rerank_chunks, reader=p.reader, reranker=p.reranker, workers=p.workers))
    node(
        "walk_entities",
        inside(
            walk_entities,
            walker=EntityWalker(p.store, p.searcher.embedder),
            reader=p.reader,
            reranker=p.reranker,
            workers=p.workers,
        ),
    )
    node("rerank_follow_ups", inside(rerank_follow_ups, reader=p.reader, reranker=p.reranker, workers=p.workers))
    node("check_coverage", inside(check_coverage, reader=p.reader, workers=p.workers))
    follow_up = load_prompt("follow_up")
    node("ask_follow_up", inside(ask_follow_up, reader=p.reader, caller=caller, prompt=follow_up, workers=p.workers))
    node("grade_passages", inside(grade_passages, reader=p.reader, reranker=p.reranker, workers=p.workers))
    node("correct_retrieval", inside(correct_retrieval, caller=caller, prompt=load_prompt("query_rewriter")))
    node("diversify_chunks", inside(diversify_chunks, coverage=CoverageOrder(p.store), workers=p.workers))
    takes_notes = not isinstance(p.llm, ExtractiveChatModel)
    node("group_passages", inside(group_passages, reader=p.reader, workers=p.workers, takes_notes=takes_notes))
    read_group = inside(map_group, reader=p.reader, caller=caller, verifier=p.verifier, workers=p.workers)
    node("map_group", read_group, input_schema=MapTask)
    node("gather_partial_answers", inside(gather_partial_answers, workers=p.workers))
    node("assemble_context", inside(assemble_context, reader=p.reader, workers=p.workers))
    node("generate_answer", inside(generate_answer, caller=caller, verifier=p.verifier))
    node("validate_citations", inside(validate_citations, verifier=p.verifier, workers=p.workers))
    node("drop_invalid_sources", inside(drop_invalid_sources))
    node("expand_context", inside(expand_context, reader=p.reader, workers=p.workers))
    node("refuse_answer", inside(refuse_answer))
    node("compose_response", inside(compose_response, expose_steps=p.expose_steps))
    node("review_answer", inside(review_answer, reader=p.reader, verifier=p.verifier, workers=p.workers))
    node("audit_response", inside(audit_response, door=p.door, expose_steps=p.expose_steps))

    graph.add_edge(START, "authorize")
    graph.add_conditional_edges("authorize", route_after_authorize)
    graph.add_edge("resolve_follow_up", "analyze_query")
    graph.add_conditional_edges("analyze_query", route_after_analyze_query)
    graph.add_edge("rewrite_query", "plan_searches")
    graph.add_edge("ask_step_back", "plan_searches")
    graph.add_conditional_edges(
        "decompose_question", route_after_decompose_question, ["research_sub_question", "plan_searches"]
    )
    graph.add_edge("research_sub_question", "gather_sub_answers")
    graph.add_conditional_edges("gather_sub_answers", route_after_gather_sub_answers)
    graph.add_conditional_edges("combine_sub_answers", route_after_generate_answer)
    graph.add_conditional_edges("plan_searches", fan_out_searches, ["search_corpus", "refuse_answer"])
    graph.add_edge("search_corpus", "fuse_results")
    graph.add_conditional_edges("fuse_results", route_after_fuse_results)
    graph.add_conditional_edges("rerank_chunks", route_after_rerank_chunks)
    graph.add_edge("walk_entities", "assemble_context")
    graph.add_edge("rerank_follow_ups", "check_coverage")
    graph.add_conditional_edges("check_coverage", route_after_check_coverage)
    graph.add_conditional_edges("ask_follow_up", route_after_ask_follow_up)
    graph.add_conditional_edges("grade_passages", route_after_grade_passages)
    graph.add_conditional_edges("correct_retrieval", route_after_correct_retrieval)
    graph.add_conditional_edges("plan_scan", fan_out_scan, ["scan_shard", "refuse_answer"])
    graph.add_edge("scan_shard", "fuse_results")
    graph.add_edge("diversify_chunks", "group_passages")
    graph.add_conditional_edges("group_passages", fan_out_groups, ["map_group", "assemble_context", "compose_response"])
    graph.add_edge("map_group", "gather_partial_answers")
    graph.add_conditional_edges("gather_partial_answers", route_after_gather_partial_answers)
    graph.add_conditional_edges("assemble_context", route_after_assemble_context)
    graph.add_conditional_edges("generate_answer", route_after_generate_answer)
    graph.add_conditional_edges("validate_citations", route_after_validate_citations)
    graph.add_conditional_edges(
        "drop_invalid_sources",
        route_after_drop_invalid_sources,
        [
            "research_sub_question",
            "map_group",
            "generate_answer",
            "plan_searches",
            "plan_scan",
            "gather_sub_answers",
            "gather_partial_answers",
        ],
    )
    graph.add_conditional_edges(
        "expand_context",
        route_after_expand_context,
        [
            "research_sub_question",
            "assemble_context",
            "group_passages",
            "plan_searches",
            "plan_scan",
            "compose_response",
        ],
    )
    graph.add_edge("reply_to_small_talk", "compose_response")
    graph.add_edge("refuse_answer", "compose_response")
    graph.add_conditional_edges("compose_response", route_after_compose_response)
    graph.add_conditional_edges("review_answer", route_after_review_answer)
    graph.add_edge("audit_response", END)

    compiled = graph.compile(checkpointer=checkpointer, name="query")
    if not p.expose_steps:
        compiled.stream_channels = compiled.output_channels
    return AuditedGraph.keeping(compiled, p.door, p.config, resumable=p.expose_steps)
