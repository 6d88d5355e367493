"""What a run tells while it runs, and what its thread holds afterwards."""

import json
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from citeloop.engine import RAGQueryEngine
from citeloop.state.config import RAGConfig
from citeloop.state.models import UserContext
from tests.handbook import HANDBOOK, engine_over, write_files

QUESTION = {"question": "How long is parental leave?", "access_reason": "t"}


def progress(engine: RAGQueryEngine) -> list[dict[str, Any]]:
    return [event for event in engine.graph.stream(QUESTION, stream_mode="custom") if event["event"] == "progress"]


def test_every_node_tells_counts_and_milliseconds(engine: RAGQueryEngine) -> None:
    events = progress(engine)
    assert [event["node"] for event in events][:3] == ["authorize", "analyze_query", "plan_searches"]
    assert events[-1]["node"] == "audit_response"
    assert all(event["milliseconds"] >= 0 for event in events)
    by_node = {event["node"]: event for event in events}
    assert by_node["plan_searches"]["counts"] == {"searches": 2}
    assert by_node["search_corpus"]["counts"]["failures"] == 0
    assert by_node["assemble_context"]["counts"]["passages"] > 0
    assert by_node["search_corpus"]["text"].startswith("search corpus ")


def test_progress_carries_no_text_of_documents_or_drafts(engine: RAGQueryEngine) -> None:
    told = json.dumps(progress(engine))
    assert "16 weeks" not in told
    assert "parental" not in told


async def test_the_message_stream_is_the_checked_answer_alone(engine: RAGQueryEngine) -> None:
    chunks = [chunk async for chunk, _ in engine.graph.astream(QUESTION, stream_mode="messages")]
    said = [chunk.text for chunk in chunks if chunk.type != "human"]
    assert len({chunk.id for chunk in chunks if chunk.type != "human"}) == 1
    assert "".join(said) == engine.query(**QUESTION).to_markdown(), "the answer first, and a chat shows the sources too"
    assert "".join(said).startswith("Parental leave lasts 16 weeks")
    assert "**Sources:**" in said[-1]


def size(values: Any) -> int:
    return len(json.dumps(values, default=str))


def test_a_thread_stays_small_after_a_question_at_its_widest(tmp_path: Any) -> None:
    pages = {f"page{n}.md": f"# Page {n}\n\n" + f"Leave rule {n} stands here at length. " * 80 for n in range(60)}
    engine = engine_over(tmp_path / "home", checkpointer=InMemorySaver())
    engine.indexer.index([write_files(tmp_path / "docs", {**HANDBOOK, **pages})], "many", UserContext())
    config: Any = {"configurable": {"thread_id": "t"}}
    wide = RAGConfig(strategy="standard", top_k=50, max_context_tokens=100_000)
    engine.graph.invoke({**QUESTION, "question": "What are the leave rules?"}, config, context=wide)
    values = engine.graph.get_state(config).values
    assert len(values["response"]["sources"]) > 20
    assert size(values) < 64 * 1024, {key: size(value) for key, value in values.items()}


def test_a_chat_message_is_a_question_and_needs_no_reason(engine: RAGQueryEngine) -> None:
    state = engine.graph.invoke({"messages": [HumanMessage("How long is parental leave?")]})
    assert "16 weeks" in state["answer"]
    assert engine.audit.rows()[-1].body["command"] == "ask"


def test_a_command_in_a_chat_rules_its_own_question(engine: RAGQueryEngine) -> None:
    parameters = 'access_reason="ticket 9" corpus_ids=handbook strategy=standard top_k=2'
    said = f'@corpus:query "How long is parental leave?" {parameters}'
    state = engine.graph.invoke({"messages": [HumanMessage(said)]})
    assert state["response"]["strategy_used"] == "standard"
    assert len(state["response"]["sources"]) <= 2
    asked = engine.audit.rows()[-1].body
    assert (asked["question"], asked["reason"]) == ("How long is parental leave?", "ticket 9")
    assert (asked["corpora"], asked["command"]) == (["handbook"], "query")
