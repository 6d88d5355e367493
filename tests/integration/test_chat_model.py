"""The chat model against a real HTTP server: what it sends, and what its failures become."""

import asyncio
import logging
import traceback
from collections.abc import Iterator

import pytest
from langchain_core.exceptions import ModelNotFoundError
from langchain_core.language_models import BaseChatModel

from citeloop.errors import ModelError, ModelReplyInvalid, ModelTimeout, ModelUnavailable
from citeloop.models.chat import build_chat_model, translate_model_error
from citeloop.settings import Settings
from citeloop.testing import ScriptedChatModel
from tests.openai_stub import OpenAIStub, StubReply

KEY = "sk-very-secret-0123456789"
ECHO = f'{{"error": {{"message": "no such key {KEY}"}}}}'.encode()


def chat_model(stub: OpenAIStub, **changes: object) -> BaseChatModel:
    given = {"openai_api_key": KEY, "openai_base_url": stub.base_url, "chat_timeout_s": 20, "chat_max_retries": 0}
    return build_chat_model(Settings(**(given | changes)), _no_fallback)


def _no_fallback() -> BaseChatModel:
    raise AssertionError("an endpoint is configured")


@pytest.fixture
def model(openai_stub: OpenAIStub) -> Iterator[BaseChatModel]:
    yield chat_model(openai_stub)


def test_without_endpoint_the_fallback_answers() -> None:
    fallback = ScriptedChatModel(replies=["quoted [1]"])
    assert build_chat_model(Settings(), lambda: fallback) is fallback


async def test_reply_usage_and_what_is_sent(openai_stub: OpenAIStub, model: BaseChatModel) -> None:
    reply = await model.ainvoke("Who signs?", max_tokens=50)
    assert reply.text == "Stub answer [1]."
    assert reply.usage_metadata is not None
    assert reply.usage_metadata["total_tokens"] == 18
    (request,) = openai_stub.requests
    assert request.path == "/v1/chat/completions"
    assert request.authorization == f"Bearer {KEY}"
    assert request.payload["temperature"] == 0
    assert request.payload["model"] == Settings().chat_model


async def test_streams_with_usage(model: BaseChatModel) -> None:
    chunks = [chunk async for chunk in model.astream("Who signs?")]
    assert "".join(chunk.text for chunk in chunks).split() == ["Stub", "answer", "[1]."]
    assert sum(chunk.usage_metadata["total_tokens"] for chunk in chunks if chunk.usage_metadata) == 18


def test_a_base_url_needs_no_key(openai_stub: OpenAIStub) -> None:
    assert chat_model(openai_stub, openai_api_key=None).invoke("hi").text == "Stub answer [1]."
    assert KEY not in openai_stub.requests[0].authorization


def test_serves_one_event_loop_after_another(model: BaseChatModel) -> None:
    for _ in range(3):
        assert asyncio.run(model.ainvoke("hi")).text == "Stub answer [1]."


def test_reasoning_models_get_no_temperature(openai_stub: OpenAIStub) -> None:
    chat_model(openai_stub, chat_model="o3-mini").invoke("hi")
    assert "temperature" not in openai_stub.requests[0].payload


async def test_retries_what_may_work_later(openai_stub: OpenAIStub) -> None:
    openai_stub.reply_with(StubReply(status=500), StubReply(content="at last"))
    assert (await chat_model(openai_stub, chat_max_retries=1).ainvoke("hi")).text == "at last"


async def failure_of(model: BaseChatModel) -> ModelError:
    try:
        await model.ainvoke("hi")
    except Exception as error:
        return translate_model_error(error, model)
    raise AssertionError("the call should have failed")


@pytest.mark.parametrize(
    ("reply", "kind", "way_out"),
    [
        (StubReply(status=401, body=ECHO), ModelUnavailable, "OPENAI_API_KEY"),
        (StubReply(status=403, body=ECHO), ModelUnavailable, "OPENAI_API_KEY"),
        (StubReply(status=404, body=ECHO), ModelUnavailable, "CITELOOP_CHAT_MODEL"),
        (StubReply(status=429, body=ECHO), ModelUnavailable, "wait"),
        (StubReply(status=500, body=ECHO), ModelUnavailable, "later"),
        (StubReply(status=400, body=ECHO), ModelReplyInvalid, "CITELOOP_CHAT_MODEL"),
        (StubReply(status=422, body=ECHO), ModelReplyInvalid, "settings"),
        (StubReply(body=b"<html>" + KEY.encode()), ModelReplyInvalid, "OPENAI_BASE_URL"),
        (StubReply(body=b'{"choices": ['), ModelReplyInvalid, "OPENAI_BASE_URL"),
        (StubReply(body=b'{"id": "x"}'), ModelReplyInvalid, "OPENAI_BASE_URL"),
        (StubReply(body=b'{"choices": []}'), ModelReplyInvalid, "OPENAI_BASE_URL"),
        (StubReply(body=b'{"choices": [{"index": 0}]}'), ModelReplyInvalid, "OPENAI_BASE_URL"),
        (StubReply(body=ECHO), ModelReplyInvalid, "OPENAI_BASE_URL"),
    ],
)
async def test_failures_are_one_clear_line_without_secrets(
    openai_stub: OpenAIStub, model: BaseChatModel, reply: StubReply, kind: type[ModelError], way_out: str
) -> None:
    openai_stub.reply_with(reply)
    error = await failure_of(model)
    assert type(error) is kind
    assert way_out in str(error)
    assert "127.0.0.1:" in str(error)
    assert "\n" not in str(error)
    assert KEY not in "".join(traceback.format_exception(error))


async def test_slow_endpoint_times_out(openai_stub: OpenAIStub) -> None:
    openai_stub.reply_with(StubReply(delay_s=2))
    error = await failure_of(chat_model(openai_stub, chat_timeout_s=0.2))
    assert type(error) is ModelTimeout
    assert error.retryable


async def test_unreachable_endpoint_is_named_without_its_password() -> None:
    with OpenAIStub() as gone:
        url = gone.base_url.replace("://", "://user:hunter2@")
    error = await failure_of(chat_model(gone, openai_base_url=url))
    assert type(error) is ModelUnavailable
    assert "127.0.0.1" in str(error)
    assert "hunter2" not in str(error)


async def test_broken_stream_is_an_error(openai_stub: OpenAIStub, model: BaseChatModel) -> None:
    openai_stub.reply_with(StubReply(content="a b c d", drop_after=2))
    with pytest.raises(Exception) as caught:
        _ = [chunk async for chunk in model.astream("hi")]
    assert type(translate_model_error(caught.value, model)) is ModelUnavailable


async def test_errors_of_other_models_are_understood() -> None:
    assert type(await failure_of(ScriptedChatModel(replies=[TimeoutError()]))) is ModelTimeout
    odd = await failure_of(ScriptedChatModel(replies=[RuntimeError(KEY)]))
    assert type(odd) is ModelReplyInvalid
    assert "RuntimeError" in str(odd)
    assert KEY not in str(odd)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("shapes"), "failed (ValueError)"),
        (ConnectionError("pipe"), "broke off (ConnectionError)"),
        (ModelNotFoundError("x"), "no such model or path (ModelNotFoundError)"),
    ],
)
async def test_a_model_without_endpoint_is_not_blamed_on_one(error: Exception, told: str) -> None:
    failure = str(await failure_of(ScriptedChatModel(replies=[error])))
    assert told in failure
    assert not any(word in failure for word in ("OPENAI_", "CITELOOP_", "chat completion", " at "))


async def test_the_cause_is_logged_at_debug_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="citeloop"):
        await failure_of(ScriptedChatModel(replies=[RuntimeError(KEY)]))
    (record,) = [record for record in caplog.records if record.name == "citeloop.models.chat"]
    assert record.levelno == logging.DEBUG
    assert "builtins.RuntimeError at " in record.getMessage()
    assert KEY not in caplog.text
