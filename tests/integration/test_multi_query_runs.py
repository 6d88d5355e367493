"""How the multi-query graphs run: every face, settings, threads, streams, and what is drawn."""

import json

import pytest
from blockbuster import BlockBuster
from langgraph.checkpoint.memory import InMemorySaver

from citeloop.errors import InvalidRequest
from tests.multi_query_fakes import BUILDERS, QUESTION, build

each_graph = pytest.mark.parametrize("name", BUILDERS)


@each_graph
async def test_every_face_gives_the_same_answer(name: str) -> None:
    graph = build(name)
    inputs = {"question": QUESTION}
    answer = graph.invoke(inputs)["answer"]
    assert "[D" in answer
    assert (await graph.ainvoke(inputs))["answer"] == answer
    assert [state["answer"] for state in graph.batch([inputs, inputs])] == [answer, answer]
    assert list(graph.stream(inputs))[-1]["return_response"]["answer"] == answer
    assert [update async for update in graph.astream(inputs)][-1]["return_response"]["answer"] == answer


@each_graph
def test_a_chat_message_is_a_question_and_the_answer_a_message(name: str) -> None:
    state = build(name).invoke({"messages": [{"role": "user", "content": QUESTION}]})
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert state["messages"][-1].text.startswith(state["answer"])


@each_graph
def test_what_leaves_is_plain_json_with_the_time_of_each_node(name: str) -> None:
    response = build(name).invoke({"question": QUESTION})["response"]
    assert json.loads(json.dumps(response)) == response
    assert response["strategy_used"] == name
    assert response["timings_ms"].keys() >= {"admit_question", "check_citations"}
    assert response["tokens_used"] > 0


@each_graph
async def test_only_checked_text_is_streamed(name: str) -> None:
    graph = build(name)
    messages = [message async for message, _ in graph.astream({"question": QUESTION}, stream_mode="messages")]
    said = (await graph.ainvoke({"question": QUESTION}))["messages"][-1].text
    assert "".join(message.text for message in messages if message.type != "human") == said


@each_graph
def test_settings_of_a_run_rule_and_are_checked(name: str) -> None:
    graph = build(name, k=1)
    assert len(graph.invoke({"question": QUESTION}, context={"k": 2})["response"]["sources"]) > 0
    with pytest.raises(InvalidRequest, match="k: Input should be greater than"):
        graph.invoke({"question": QUESTION}, context={"k": 0})
    with pytest.raises(InvalidRequest, match="depht"):
        graph.invoke({"question": QUESTION}, context={"depht": 3})


@each_graph
def test_turns_of_a_thread_do_not_leak_into_each_other(name: str) -> None:
    graph = build(name, checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    graph.invoke({"question": QUESTION}, thread)
    second = graph.invoke({"question": "something else?"}, thread)
    queries = [query["query"] for query in second["response"]["trace"]["queries"]]
    assert QUESTION not in queries
    assert len(second["messages"]) == 4
    fresh = build(name).invoke({"question": "something else?"})
    assert second["answer"] == fresh["answer"]
    assert second["response"]["tokens_used"] == fresh["response"]["tokens_used"]


@each_graph
async def test_nothing_blocks_the_event_loop(name: str) -> None:
    graph = build(name)
    detector = BlockBuster(excluded_modules=[])
    detector.functions.pop("threading.Lock.acquire")
    detector.activate()
    try:
        assert "[D" in (await graph.ainvoke({"question": QUESTION}))["answer"]
    finally:
        detector.deactivate()


EDGES = {
    "rag_fusion": {
        ("__start__", "admit_question"),
        ("admit_question", "rewrite_query"),
        ("rewrite_query", "search_documents"),
        ("search_documents", "fuse_documents"),
        ("fuse_documents", "answer_from_documents"),
        ("fuse_documents", "refuse_answer"),
        ("answer_from_documents", "check_citations"),
        ("check_citations", "return_response"),
        ("refuse_answer", "return_response"),
        ("return_response", "__end__"),
    },
    "sub_questions": {
        ("__start__", "admit_question"),
        ("admit_question", "decompose_question"),
        ("decompose_question", "answer_sub_question"),
        ("answer_sub_question", "gather_sub_answers"),
        ("gather_sub_answers", "combine_sub_answers"),
        ("gather_sub_answers", "return_response"),
        ("gather_sub_answers", "refuse_answer"),
        ("combine_sub_answers", "check_citations"),
        ("check_citations", "return_response"),
        ("refuse_answer", "return_response"),
        ("return_response", "__end__"),
    },
    "step_back": {
        ("__start__", "admit_question"),
        ("admit_question", "ask_step_back"),
        ("ask_step_back", "search_documents"),
        ("search_documents", "pair_documents"),
        ("pair_documents", "answer_with_background"),
        ("pair_documents", "refuse_answer"),
        ("answer_with_background", "check_citations"),
        ("check_citations", "return_response"),
        ("refuse_answer", "return_response"),
        ("return_response", "__end__"),
    },
}


@each_graph
def test_it_is_drawn_as_it_runs(name: str) -> None:
    drawn = build(name).get_graph(xray=True)
    assert {(edge.source, edge.target) for edge in drawn.edges} == EDGES[name]


@each_graph
def test_the_state_has_no_key_of_another_graph(name: str) -> None:
    keys = build(name).builder.channels.keys()
    assert "ranked_lists" not in keys
    assert {"question", "messages"} == set(build(name).get_input_jsonschema()["properties"])
