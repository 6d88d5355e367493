"""The nodes of the query graph, in the order in which a question may meet them."""

import functools
from typing import Any

from langgraph.graph import StateGraph

from citeloop.graph.binding import bind
from citeloop.graph.query_parts import QueryParts
from citeloop.graph.sub_question_branch import NodesInLine
from citeloop.models.chat_caller import ChatCaller
from citeloop.models.extractive import ExtractiveChatModel
from citeloop.nodes.analyze_query import analyze_query
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
from citeloop.retrieval.scan import CorpusScanner
from citeloop.state.graph_state import MapTask, ScanTask, SearchTask, SubQuestionTask


def add_query_nodes(graph: StateGraph[Any, Any, Any, Any], parts: QueryParts, state: type) -> None:
    """Every node of the query graph, bound to its parts; ``state``: what a node gets that names nothing else."""
    p = parts
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
