"""The public fakes keep the promises that tests of applications rest on."""

import asyncio

import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, SystemMessage

from citeloop.testing import KeyedRetriever, ScriptedChatModel


async def test_replies_come_in_order_sync_and_async_and_calls_are_recorded() -> None:
    model = ScriptedChatModel(replies=["one", "two"])
    assert model.invoke([SystemMessage("rules"), HumanMessage("first")]).text == "one"
    assert (await model.ainvoke("second")).text == "two"
    assert model.prompts == ["rules\n\nfirst", "second"]
    assert [message.type for message in model.calls[0]] == ["system", "human"]


def test_usage_is_counted() -> None:
    usage = ScriptedChatModel(replies=["two words"]).invoke("a question of some length").usage_metadata
    assert usage is not None
    assert usage["input_tokens"] > usage["output_tokens"] > 0
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]


@pytest.mark.parametrize("text", ["The fee is 12 euros [1].", "two\n\nparagraphs  ", "one", ""])
async def test_streams_what_it_would_say(text: str) -> None:
    model = ScriptedChatModel(replies=lambda _: text)
    said = model.invoke("?")
    for chunks in (list(model.stream("?")), [chunk async for chunk in model.astream("?")]):
        assert "".join(chunk.text for chunk in chunks) == text
        assert sum((chunk for chunk in chunks[1:]), chunks[0]).usage_metadata == said.usage_metadata


async def test_scripted_failures_are_raised() -> None:
    model = ScriptedChatModel(replies=[TimeoutError("slow"), ValueError("odd"), "fine"])
    with pytest.raises(TimeoutError):
        model.invoke("?")
    with pytest.raises(ValueError):
        _ = [chunk async for chunk in model.astream("?")]
    assert model.invoke("?").text == "fine"
    with pytest.raises(AssertionError, match="this is call 4"):
        model.invoke("?")


async def test_a_delayed_reply_can_be_cancelled() -> None:
    model = ScriptedChatModel(replies=["late"], delay_s=60)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(model.ainvoke("?"), 0.01)


async def test_retriever_finds_by_query_fails_and_waits_as_told() -> None:
    found = [Document(id="D7", page_content="The fee is 12 euros."), Document(id="D2", page_content="Fees.")]
    retriever = KeyedRetriever(results={"fee": found, "price": ConnectionError()}, delays_s={"slow": 60})
    assert retriever.invoke("fee") == await retriever.ainvoke("fee") == found
    assert retriever.invoke("unknown") == []
    with pytest.raises(ConnectionError):
        await retriever.ainvoke("price")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(retriever.ainvoke("slow"), 0.01)
    assert retriever.queries == ["fee", "fee", "unknown", "price", "slow"]
