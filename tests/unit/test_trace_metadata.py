"""What a run tells on its root, for people who look for it among others."""

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from citeloop.graph.trace_metadata import attach_trace_metadata


def told(input: Any, config: RunnableConfig | None = None, strategy: str = "auto") -> dict[str, Any]:
    return attach_trace_metadata(config, input, strategy)["metadata"]


def test_a_question_is_told_by_what_it_asks_for() -> None:
    asked = {"question": "q", "command": "ask", "corpora": ["a", "b"]}
    assert told(asked, strategy="standard") == {"strategy_asked": "standard", "command": "ask", "corpora_asked": 2}
    assert told({"question": "q"}) == {"strategy_asked": "auto", "command": "query", "corpora_asked": 0}


@pytest.mark.parametrize("input", [None, Command(goto="plan_searches")])
def test_a_run_that_goes_on_asks_for_nothing(input: object) -> None:
    assert told(input) == {"strategy_asked": "auto"}


def test_what_will_be_refused_is_not_repeated() -> None:
    assert told({"command": "sk-secret", "corpora": "sk-secret"})["command"] == "query"
    assert "sk-secret" not in str(told({"command": "sk-secret", "corpora": "sk-secret"}))


def test_the_callers_own_metadata_stands_and_its_config_is_left_alone() -> None:
    config = RunnableConfig(metadata={"command": "mine", "team": "support"}, configurable={"thread_id": "t"})
    attached = attach_trace_metadata(config, {"question": "q"}, "auto")
    assert attached["metadata"] == {"strategy_asked": "auto", "command": "mine", "corpora_asked": 0, "team": "support"}
    assert attached["configurable"] == {"thread_id": "t"}
    assert config["metadata"] == {"command": "mine", "team": "support"}
