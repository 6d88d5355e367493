"""Binding a node: what LangGraph sees of it, and the time it takes."""

import inspect
from typing import Any, get_type_hints

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from citeloop.errors import CorpusNotFound, StoreCorrupt, StoreError
from citeloop.governance.run_record import RunRecord, attach_run_record
from citeloop.graph.binding import bind
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import QueryState


async def look_up(state: QueryState, runtime: Runtime[RAGConfig], *, table: dict[str, str]) -> dict[str, Any]:
    return {"answer": table[state["question"]]}


async def fail(state: QueryState, config: RunnableConfig) -> None:
    raise ValueError(sorted(config))


async def test_collaborators_are_filled_in_and_time_is_counted() -> None:
    record = RunRecord()
    node = bind(look_up, table={"a": "b"})
    assert await node({"question": "a"}, runtime=None, config=attach_run_record(None, record)) == {"answer": "b"}
    assert list(record.timings_ms) == ["look_up"]


async def test_a_failing_node_is_timed_and_gets_its_config() -> None:
    record = RunRecord()
    with pytest.raises(ValueError, match="configurable"):
        await bind(fail)({}, config=attach_run_record(None, record))
    assert list(record.timings_ms) == ["fail"]


def test_what_langgraph_reads_is_kept() -> None:
    node = bind(look_up, table={})
    assert node.__name__ == "look_up"
    assert list(inspect.signature(node).parameters) == ["state", "runtime", "config"]
    assert get_type_hints(node)["state"] is QueryState


async def lose_a_file(state: QueryState) -> None:
    raise StoreCorrupt("/srv/secret/place/store.db cannot be read")


async def lose_a_corpus(state: QueryState) -> None:
    raise CorpusNotFound("legal")


async def test_a_quiet_node_tells_its_errors_by_code_and_logs_them(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(StoreError) as told:
        await bind(lose_a_file, quiet=True)({}, config={})
    assert "/srv" not in str(told.value)
    assert told.value.__cause__ is None
    assert told.value.code == StoreCorrupt.code
    assert "/srv/secret/place" in caplog.text
    with pytest.raises(StoreCorrupt, match="/srv"):
        await bind(lose_a_file)({}, config={})


async def test_what_the_caller_can_mend_is_told_by_a_quiet_node_too() -> None:
    with pytest.raises(CorpusNotFound, match="legal"):
        await bind(lose_a_corpus, quiet=True)({}, config={})
