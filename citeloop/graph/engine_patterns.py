"""The multi-query graphs over the parts of an engine."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import Checkpointer

from citeloop.graph.configured_graph import ConfiguredGraph
from citeloop.graph.multi_query_parts import MultiQueryParts
from citeloop.graph.query_parts import QueryParts
from citeloop.graph.rag_fusion import assemble_rag_fusion_graph
from citeloop.graph.step_back import assemble_step_back_graph
from citeloop.graph.sub_questions import assemble_sub_questions_graph
from citeloop.models.chat_caller import ChatCaller
from citeloop.retrieval.store_search import StoreSearch
from citeloop.state.multi_query_config import RagFusionConfig, StepBackConfig, SubQuestionsConfig
from citeloop.verification.draft_check import DraftCheck


def assemble_engine_patterns(
    engine: QueryParts, checkpointer: Checkpointer = None
) -> Mapping[str, ConfiguredGraph[Any]]:
    """``rag_fusion``, ``sub_questions`` and ``step_back`` over the store, the model and the door of ``engine``."""
    parts = MultiQueryParts(
        search=StoreSearch(engine.searcher, engine.reader, engine.workers),
        caller=ChatCaller(engine.llm, engine.workers),
        check=DraftCheck(engine.verifier, engine.config, engine.workers),
        door=engine.door,
        expose_steps=engine.expose_steps,
    )
    return {
        "rag_fusion": assemble_rag_fusion_graph(parts, RagFusionConfig(), checkpointer),
        "sub_questions": assemble_sub_questions_graph(parts, SubQuestionsConfig(), checkpointer),
        "step_back": assemble_step_back_graph(parts, StepBackConfig(), checkpointer),
    }
