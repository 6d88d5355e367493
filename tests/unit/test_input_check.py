"""What a run may be started with."""

import pickle
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.types import Command

from citeloop.errors import (
    CorpusNotFound,
    CredentialsRefused,
    IdentityNotSetUp,
    InvalidRequest,
    ReviewPending,
)
from citeloop.graph.input_check import MAX_MESSAGES_CHARACTERS, checked_input

KNOWN = ("question", "messages", "corpora")


@pytest.mark.parametrize("typo", ["corpus", "Corpora", "passages", "x" * 100_000])
def test_an_unknown_key_is_told_with_those_there_are(typo: str) -> None:
    with pytest.raises(InvalidRequest, match="the inputs are corpora, messages, question") as refused:
        checked_input({"question": "q", typo: 1}, KNOWN, resumable=True)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("input", ["text", ["q"], 5])
def test_an_input_is_an_object(input: Any) -> None:
    with pytest.raises(InvalidRequest, match="the input is an object"):
        checked_input(input, KNOWN, resumable=True)


@pytest.mark.parametrize(
    "messages",
    [
        None,
        "text",
        {},
        {"__overwrite__": 5},
        [5],
        [{}],
        [{"role": "human"}],
        [{"role": "tool", "content": "x"}],
        [{"role": "human", "content": [5]}],
        [{"role": "emperor", "content": "x"}],
    ],
)
def test_messages_that_cannot_be_read_are_told_in_a_line(messages: Any) -> None:
    with pytest.raises(InvalidRequest, match="messages") as refused:
        checked_input({"messages": messages}, KNOWN, resumable=True)
    assert "\n" not in str(refused.value)


def test_messages_are_bounded() -> None:
    long = [{"role": "system", "content": "x" * MAX_MESSAGES_CHARACTERS}, {"role": "human", "content": "q"}]
    with pytest.raises(InvalidRequest, match="characters"):
        checked_input({"messages": long}, KNOWN, resumable=True)


def test_messages_arrive_as_messages() -> None:
    read = checked_input({"messages": [{"role": "user", "content": "q?"}, ("human", "r?")]}, KNOWN, resumable=True)
    assert read["messages"] == [HumanMessage("q?"), HumanMessage("r?")]


def test_a_run_goes_on_only_where_steps_are_kept() -> None:
    for going_on in (None, Command(goto="x"), Command(update={"a": 1}), Command(resume="approve", goto="x")):
        assert checked_input(going_on, KNOWN, resumable=True) is going_on
        with pytest.raises(InvalidRequest, match="threads keep no steps"):
            checked_input(going_on, KNOWN, resumable=False)
    decision = Command(resume="approve")
    assert checked_input(decision, KNOWN, resumable=False) is decision


@pytest.mark.parametrize("resumable", [True, False])
def test_a_command_says_something(resumable: bool) -> None:
    with pytest.raises(InvalidRequest, match="command is empty"):
        checked_input(Command(), KNOWN, resumable=resumable)


@pytest.mark.parametrize(
    "error", [CorpusNotFound("a"), ReviewPending("t", {"answer": "a"}), CredentialsRefused(), IdentityNotSetUp()]
)
def test_errors_travel_between_processes(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
