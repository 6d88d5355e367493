"""The nodes at the door: authorize and analyze_query."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from citeloop.errors import CorpusNotFound, InvalidRequest, MissingReason, StoreBusy
from citeloop.governance.door import Door
from citeloop.governance.identity import CALLER_KEY
from citeloop.governance.run_record import RunRecord, attach_run_record
from citeloop.models.chat_caller import ChatCaller
from citeloop.nodes.analyze_query import analyze_query
from citeloop.nodes.authorize import authorize
from citeloop.prompts.library import load_prompt
from citeloop.request_reading import MAX_QUESTION_CHARACTERS
from citeloop.retrieval.analyzer import QueryAnalyzer
from citeloop.state.models import RetrievalStrategy, UserContext
from citeloop.testing import ScriptedChatModel
from tests.unit.graph_fakes import InlineWorkers, OpenStore, RecordingAudit, runtime, turn


async def enter(state: dict[str, Any], audit: Any = None, record: RunRecord | None = None, **options: Any) -> Any:
    config = attach_run_record({"configurable": options.pop("configurable", {})}, record or RunRecord())
    settings = options.pop("settings", {})
    return await authorize(
        state,
        runtime(**settings),
        config,
        store=options.pop("store", OpenStore()),
        door=Door(audit or RecordingAudit(), InlineWorkers(), **options),  # type: ignore[arg-type]
        workers=InlineWorkers(),
    )


async def test_the_asked_row_holds_who_what_and_why() -> None:
    audit, record = RecordingAudit(), RunRecord()
    state = {"question": " How long? ", "access_reason": "audit 7", "corpora": ["handbook"]}
    admitted = await enter(state, audit, record, configurable={CALLER_KEY: UserContext(user_id="ana")})
    [(request_id, event, body)] = audit.rows
    assert (event, request_id, record.request_id) == ("asked", admitted["request"]["request_id"], request_id)
    assert body == {
        "user": "ana",
        "command": "query",
        "question": "How long?",
        "corpora": ["handbook"],
        "reason": "audit 7",
    }


@pytest.mark.parametrize("question", ["", "  \n", "x" * (MAX_QUESTION_CHARACTERS + 1)])
async def test_an_unusable_question_is_refused(question: str) -> None:
    with pytest.raises(InvalidRequest, match="question"):
        await enter({"question": question, "access_reason": "r"})


@pytest.mark.parametrize(
    "inputs",
    [
        {"question": 5},
        {"question": "lone \ud800 surrogate"},
        {"corpora": "handbook"},
        {"corpora": []},
        {"corpora": ["lone \ud800 surrogate"]},
        {"corpora": ["x" * 10_000]},
        {"command": "sudo"},
    ],
)
async def test_inputs_of_another_shape_are_told(inputs: dict[str, Any]) -> None:
    audit = RecordingAudit()
    with pytest.raises(InvalidRequest, match=next(iter(inputs))):
        await enter({"question": "q", "access_reason": "r", **inputs}, audit)
    assert audit.rows == []


async def test_query_needs_a_reason_and_ask_only_by_policy() -> None:
    with pytest.raises(MissingReason, match="access_reason"):
        await enter({"question": "q", "access_reason": "  "})
    await enter({"question": "q", "command": "ask"})
    with pytest.raises(MissingReason):
        await enter({"question": "q", "command": "ask"}, ask_needs_reason=True)


async def test_a_corpus_that_is_not_open_is_refused_and_the_attempt_kept() -> None:
    audit = RecordingAudit()
    with pytest.raises(CorpusNotFound, match="'secrets'"):
        await enter({"question": "q", "access_reason": "r", "corpora": ["secrets"]}, audit)
    assert [(event, body["corpora"]) for _, event, body in audit.rows] == [("asked", ["secrets"])]


async def test_a_run_cannot_switch_the_audit_off_by_itself() -> None:
    audit, state = RecordingAudit(), {"question": "q", "access_reason": "r"}
    await enter(state, audit, settings={"audit_all_queries": False})
    assert len(audit.rows) == 1
    await enter(state, audit, settings={"audit_all_queries": False}, audits_always=False)
    assert len(audit.rows) == 1


async def test_no_row_no_question() -> None:
    record = RunRecord()
    with pytest.raises(StoreBusy):
        await enter({"question": "q", "access_reason": "r"}, RecordingAudit(failure=StoreBusy("locked")), record)
    assert record.request_id is None


async def test_a_turn_begins_clean() -> None:
    left_over = turn(round=2, excluded_ids=["x"], best={"round": 1}, query_trace=[1], correction="widen")
    left_over |= turn(queries=[1], sub_answers=[1], answered={"k": 1}, trace={"k": 1}, tokens={"k": 1})
    admitted = await enter({**left_over, "question": "next?", "access_reason": "r"})
    assert (admitted["round"], admitted["excluded_ids"], admitted["best"], admitted["query_trace"]) == (0, [], None, [])
    assert admitted["correction"] == "none"
    assert admitted["ranked_lists"].value == admitted["search_failures"].value == {}
    assert admitted["queries"] == admitted["sub_answers"] == []
    assert admitted["answered"].value == admitted["trace"].value == admitted["tokens"].value == {}
    assert admitted["request"]["corpora"] is None


async def test_the_last_human_message_is_the_question() -> None:
    messages = [HumanMessage("first?"), AIMessage("one"), HumanMessage("second?")]
    admitted = await enter({"messages": messages, "access_reason": "r"})
    assert admitted["request"]["question"] == "second?"
    assert admitted["messages"] == [], "it is in the conversation already"
    with pytest.raises(InvalidRequest):
        await enter({"messages": messages[:2], "access_reason": "r"})


async def test_a_server_user_rules_over_whatever_the_request_says() -> None:
    store = OpenStore()
    configurable = {"langgraph_auth_user": {"identity": "ana"}, CALLER_KEY: UserContext(user_id="root")}
    await enter({"question": "q", "access_reason": "r"}, store=store, configurable=configurable)
    assert store.opened_by == [UserContext(user_id="ana")]


async def test_a_caller_in_json_is_no_caller() -> None:
    store = OpenStore()
    await enter({"question": "q", "access_reason": "r"}, store=store, configurable={CALLER_KEY: {"user_id": "root"}})
    assert store.opened_by == [UserContext()]


async def test_a_run_cancelled_while_the_row_is_written_knows_its_request() -> None:
    class SlowWorkers(InlineWorkers):
        async def run(self, function: Any, *args: Any) -> Any:
            if function.__name__ == "append":
                await asyncio.sleep(60)
            return function(*args)

    record = RunRecord()
    config = attach_run_record(None, record)
    door = authorize(
        {"question": "q", "access_reason": "r"},
        runtime(),
        config,
        store=OpenStore(),  # type: ignore[arg-type]
        door=Door(RecordingAudit(), SlowWorkers()),  # type: ignore[arg-type]
        workers=SlowWorkers(),  # type: ignore[arg-type]
    )
    task = asyncio.create_task(door)
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert record.request_id is not None


async def strategy_of(question: str, choice: str = "auto") -> tuple[str, str]:
    state = turn()
    state["request"]["question"] = question
    update = await analyze_query(
        state,
        runtime(strategy=choice),
        {},
        analyzer=QueryAnalyzer(),
        caller=ChatCaller(ScriptedChatModel(replies=[]), InlineWorkers()),  # type: ignore[arg-type]
        prompt=load_prompt("query_analyzer"),
        workers=InlineWorkers(),  # type: ignore[arg-type]
    )
    return update["analysis"]["strategy"], update["analysis"]["reason"]


@pytest.mark.parametrize(
    ("question", "strategy"),
    [
        ("When was the policy introduced?", "simple"),
        ("How do I request leave?", "standard"),
        ("Why is access reviewed?", "standard"),
        ("Compare leave and sabbatical.", "graph"),
    ],
)
async def test_auto_follows_the_table(question: str, strategy: str) -> None:
    assert (await strategy_of(question))[0] == strategy


@pytest.mark.parametrize("strategy", RetrievalStrategy)
async def test_the_callers_strategy_rules(strategy: RetrievalStrategy) -> None:
    assert await strategy_of("Compare a and b.", strategy.value) == (strategy.value, f"{strategy} was asked for")
