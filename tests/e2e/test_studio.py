"""What Studio does with the graph: form and picture, step by step, edits between steps, forks, replays, chat."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.e2e.dev_server import DevServer

QUESTION = {"question": "How long is parental leave?", "access_reason": "e2e"}
STEPS = [
    "authorize",
    "analyze_query",
    "plan_searches",
    "search_corpus",
    "fuse_results",
    "rerank_chunks",
    "grade_passages",
    "assemble_context",
    "generate_answer",
    "validate_citations",
    "compose_response",
    "audit_response",
]


@pytest.fixture
async def client(local_server: DevServer) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=local_server.url) as client:
        yield client


@pytest.fixture
async def thread(client: LangGraphClient) -> str:
    return str((await client.threads.create())["thread_id"])


async def test_the_form_has_names_descriptions_bounds_and_choices(client: LangGraphClient) -> None:
    [assistant] = await client.assistants.search(graph_id="query")
    form = (await client.assistants.get_schemas(assistant["assistant_id"]))["context_schema"]["properties"]
    assert all(field["description"] for field in form.values())
    assert {"auto", "simple", "standard"} <= set(form["strategy"]["enum"])
    assert form["review"]["enum"] == ["off", "low_confidence", "always"]
    assert (form["max_correction_rounds"]["minimum"], form["max_correction_rounds"]["maximum"]) == (0, 5)


async def test_the_picture_shows_the_loops(client: LangGraphClient) -> None:
    drawn = await client.assistants.get_graph("query", xray=True)
    edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
    assert {
        ("validate_citations", "drop_invalid_sources"),
        ("validate_citations", "expand_context"),
        ("drop_invalid_sources", "generate_answer"),
        ("expand_context", "plan_searches"),
        ("compose_response", "review_answer"),
    } <= edges


async def test_every_step_can_be_stopped_at_and_read(client: LangGraphClient, thread: str) -> None:
    seen: list[str] = []
    payload: Any = QUESTION
    for _ in range(20):
        await client.runs.wait(thread, "query", input=payload, interrupt_before="*")
        payload = None
        state = await client.threads.get_state(thread)
        json.dumps(state["values"])
        if not state["next"]:
            break
        seen += dict.fromkeys(state["next"])
        if state["next"] == ["rerank_chunks"]:
            assert state["values"]["candidates"][0]["chunk_id"]
        if state["next"] == ["validate_citations"]:
            assert "16 weeks" in state["values"]["draft"]["text"]
        if state["next"] == ["compose_response"]:
            assert state["values"]["best"]["verdict"]["citations"]
    assert seen == STEPS
    assert "16 weeks" in state["values"]["answer"]


async def test_a_draft_is_edited_before_it_is_validated(client: LangGraphClient, thread: str) -> None:
    await client.runs.wait(thread, "query", input=QUESTION, interrupt_before=["validate_citations"])
    draft = {"text": "Parental leave lasts 16 weeks. [1]", "tokens": 1}
    await client.threads.update_state(thread, {"draft": draft}, as_node="generate_answer")
    done = await client.runs.wait(thread, "query", input=None)
    assert done["answer"] == "Parental leave lasts 16 weeks. [1]"
    assert done["response"]["citations"][0]["confidence"] > 0.5


async def test_any_checkpoint_is_replayed_and_forked(client: LangGraphClient, thread: str) -> None:
    first = await client.runs.wait(thread, "query", input=QUESTION)
    history = await client.threads.get_history(thread, limit=30)
    middles = [point for point in history if point["next"] and point["next"] != ["__start__"]]
    assert len(middles) >= len(STEPS) - 1
    for point in middles:
        again = await client.runs.wait(thread, "query", input=None, checkpoint=point["checkpoint"])
        assert again["answer"] == first["answer"], point["next"]
    [before_search] = [point for point in middles if point["next"] == ["plan_searches"]]
    analysis = {**before_search["values"]["analysis"], "strategy": "standard"}
    forked = await client.threads.update_state(
        thread, {"analysis": analysis}, as_node="analyze_query", checkpoint=before_search["checkpoint"]
    )
    other = await client.runs.wait(thread, "query", input=None, checkpoint=forked["checkpoint"])
    assert other["response"]["strategy_used"] == "standard"


async def test_a_chat_message_is_a_question_and_a_command_is_read(client: LangGraphClient, thread: str) -> None:
    said = [{"role": "human", "content": "How long is parental leave?"}]
    state = await client.runs.wait(thread, "query", input={"messages": said})
    assert state["messages"][-1]["content"].startswith("Parental leave lasts 16 weeks")
    command = '@corpus:query "What is the limit for hotels a night?" access_reason="trip 3" corpus_ids=handbook'
    state = await client.runs.wait(thread, "query", input={"messages": [{"role": "human", "content": command}]})
    assert "140 euros" in state["messages"][-1]["content"]
    assert [message["type"] for message in state["messages"]] == ["human", "ai", "human", "ai"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("@corpus:query How long?", "access_reason"),
        ("@corpus:ask How long? strategy=best", "strategy"),
        ("@corpus:ask How long? speed=9", "speed"),
        ("@corpus:find How long?", "@corpus:ask"),
    ],
)
async def test_a_wrong_command_gets_one_helpful_line(client: LangGraphClient, said: str, told: str) -> None:
    state = await client.runs.wait(
        None, "query", input={"messages": [{"role": "human", "content": said}]}, raise_error=False
    )
    message = state["__error__"]["message"]
    assert told in message
    assert "\n" not in message


async def test_questions_on_one_thread_never_see_each_other(client: LangGraphClient, thread: str) -> None:
    contracts = {"question": "Who signs contracts over 50,000 euros?", "access_reason": "one", "corpora": ["legal"]}
    first = await client.runs.wait(thread, "query", input=contracts)
    assert {source["corpus"] for source in first["response"]["sources"]} == {"legal"}
    second = await client.runs.wait(thread, "query", input={**QUESTION, "access_reason": "two"})
    assert "16 weeks" in second["answer"]
    values = (await client.threads.get_state(thread))["values"]
    assert (values["request"]["corpora"], values["request"]["access_reason"]) == (None, "two")
    assert len(json.dumps(values)) < 64 * 1024


async def test_an_answer_waits_for_its_reviewer(client: LangGraphClient, thread: str) -> None:
    await client.runs.wait(thread, "query", input=QUESTION, context={"review": "always"})
    state = await client.threads.get_state(thread)
    assert state["next"] == ["review_answer"]
    offered = state["tasks"][0]["interrupts"][0]["value"]
    assert "16 weeks" in offered["answer"]
    edit = {"decision": "edit", "answer": "Parental leave lasts 16 weeks at full pay. [1]", "note": "shorter"}
    done = await client.runs.wait(thread, "query", command={"resume": edit})
    assert done["answer"] == edit["answer"]
    assert done["response"]["trace"]["review"] == {"decision": "edit", "by": "local", "note": "shorter"}
