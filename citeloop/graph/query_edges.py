"""The ways between the nodes of the query graph."""

from typing import Any

from langgraph.graph import END, START, StateGraph

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


def add_query_edges(graph: StateGraph[Any, Any, Any, Any]) -> None:
    """Every way from node to node; where there is a choice, a router of ``edges`` and its siblings takes it."""
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
