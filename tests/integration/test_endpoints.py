"""The engine over a real OpenAI-compatible server: its answers are checked, its failures told once and kept."""

import logging
import traceback
from pathlib import Path

import pytest

from citeloop.engine import RAGQueryEngine, open_engine
from citeloop.errors import ModelError, ModelReplyInvalid, ModelTimeout, ModelUnavailable
from citeloop.settings import Settings
from tests.handbook import audit_events
from tests.openai_stub import OpenAIStub, StubReply

QUESTION = "How long is parental leave?"
KEY = "sk-very-secret-0123456789"
ECHO = f'{{"error": {{"message": "no such key {KEY}"}}}}'.encode()
GOOD = "Parental leave lasts 16 weeks at full pay. [1]"


def engine_with(stores: Path, base_url: str, **changes: object) -> RAGQueryEngine:
    given = {"openai_api_key": KEY, "openai_base_url": base_url, "chat_timeout_s": 20, "chat_max_retries": 0}
    return open_engine(stores, settings=Settings(**(given | changes)))


def failure_of(engine: RAGQueryEngine) -> ModelError:
    with pytest.raises(ModelError) as told:
        engine.query(QUESTION, access_reason="test")
    return told.value


def assert_told_once(engine: RAGQueryEngine, error: ModelError, log: str) -> None:
    """One line, two rows, and the key in none of the places where people would find it."""
    assert "\n" not in str(error)
    asked, ended = reversed(engine.audit.rows())
    assert asked.body["question"] == QUESTION
    assert (ended.event, ended.body) == ("ended", {"outcome": "failed", "error": error.code})
    assert ended.request_id == asked.request_id
    assert engine.audit.verify().unfinished == ()
    for text in (str(error), "".join(traceback.format_exception(error)), log, str(engine.audit.rows())):
        assert KEY not in text


def test_a_good_reply_is_validated_and_returned(stores: Path, openai_stub: OpenAIStub) -> None:
    openai_stub.reply_with(StubReply(GOOD))
    engine = engine_with(stores, openai_stub.base_url)
    response = engine.query(QUESTION, access_reason="test")
    assert (response.answer, response.status) == (GOOD, "answered")
    assert "16 weeks" in response.citations[0].source_text
    assert response.citations[0].confidence >= 0.7
    assert response.tokens_used == 18, "as the endpoint counts"
    assert len(openai_stub.requests) == 1
    assert "16 weeks" in str(openai_stub.requests[0].payload), "the passages were sent"
    assert audit_events(engine) == [("asked", ""), ("ended", "answered")]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (StubReply(status=401, body=ECHO), ModelUnavailable),
        (StubReply(status=429, body=ECHO), ModelUnavailable),
        (StubReply(status=500, body=ECHO), ModelUnavailable),
        (StubReply(status=400, body=ECHO), ModelReplyInvalid),
        (StubReply(body=ECHO), ModelReplyInvalid),
        (StubReply(body=b"<html>" + KEY.encode()), ModelReplyInvalid),
        (StubReply(body=b'{"choices": ['), ModelReplyInvalid),
        (StubReply(body=b'{"choices": []}'), ModelReplyInvalid),
        (StubReply(body=b""), ModelReplyInvalid),
        (StubReply(content=""), ModelReplyInvalid),
        (StubReply(content=None), ModelReplyInvalid),
        (StubReply(content="<think>only thoughts</think>"), ModelReplyInvalid),
    ],
)
def test_a_bad_reply_is_one_error_and_two_rows(
    stores: Path, openai_stub: OpenAIStub, caplog: pytest.LogCaptureFixture, reply: StubReply, kind: type[ModelError]
) -> None:
    caplog.set_level(logging.DEBUG)
    openai_stub.reply_with(reply)
    engine = engine_with(stores, openai_stub.base_url)
    error = failure_of(engine)
    assert type(error) is kind
    assert_told_once(engine, error, caplog.text)


def test_an_unreachable_endpoint(stores: Path, caplog: pytest.LogCaptureFixture) -> None:
    with OpenAIStub() as gone:
        url = gone.base_url
    engine = engine_with(stores, url)
    error = failure_of(engine)
    assert type(error) is ModelUnavailable
    assert "OPENAI_BASE_URL" in str(error)
    assert_told_once(engine, error, caplog.text)


def test_a_slow_endpoint(stores: Path, openai_stub: OpenAIStub, caplog: pytest.LogCaptureFixture) -> None:
    openai_stub.reply_with(StubReply(delay_s=3))
    engine = engine_with(stores, openai_stub.base_url, chat_timeout_s=0.3)
    error = failure_of(engine)
    assert type(error) is ModelTimeout
    assert len(openai_stub.requests) == 1
    assert_told_once(engine, error, caplog.text)


def test_what_failed_once_is_answered_when_asked_again(stores: Path, openai_stub: OpenAIStub) -> None:
    openai_stub.reply_with(StubReply(status=500), StubReply(GOOD))
    engine = engine_with(stores, openai_stub.base_url)
    failure_of(engine)
    assert engine.query(QUESTION, access_reason="test").answer == GOOD
    assert [row.body.get("outcome", "") for row in reversed(engine.audit.rows())] == ["", "failed", "", "answered"]


def test_a_failure_in_a_correction_round_returns_the_first_draft_marked(stores: Path, openai_stub: OpenAIStub) -> None:
    openai_stub.reply_with(StubReply("The moon is made of cheese. [1]"), StubReply(status=500, body=ECHO))
    engine = engine_with(stores, openai_stub.base_url)
    response = engine.query(QUESTION, access_reason="test")
    assert len(openai_stub.requests) == 2
    assert (response.answer, response.status) == ("The moon is made of cheese. [1]", "low_confidence")
    assert response.trace["model_failure"].startswith("model_unavailable: ")
    assert response.trace["returned_round"] == 0
    assert KEY not in response.model_dump_json()
    assert audit_events(engine) == [("asked", ""), ("ended", "low_confidence")]
