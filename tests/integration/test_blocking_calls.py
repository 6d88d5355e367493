"""No blocking call in the event loop: the detector that LangGraph's dev server runs, set stricter than there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from blockbuster import BlockBuster

from citeloop.engine import RAGQueryEngine, open_engine
from citeloop.prompts.library import read_prompt
from citeloop.settings import Settings
from citeloop.testing import ScriptedChatModel
from tests.handbook import engine_over
from tests.map_fakes import QUESTION as TEAMS_QUESTION
from tests.map_fakes import asked, index_teams, noting_model
from tests.openai_stub import OpenAIStub, StubReply

QUESTION = "How long is parental leave?"


@contextmanager
def detector() -> Iterator[None]:
    """Raises at files, sqlite, sleep and ``os.path``; locks held for an instant are allowed, as in the dev server."""
    found = BlockBuster(excluded_modules=[])
    found.functions.pop("threading.Lock.acquire")
    read_prompt.cache_clear()  # whatever ran before, prompts are read in this run
    found.activate()
    try:
        yield
    finally:
        found.deactivate()


async def test_the_detector_detects(stores: Path) -> None:
    with detector(), pytest.raises(Exception, match="Blocking call"):
        (stores / "store.db").stat()


@pytest.mark.parametrize("strategy", ["simple", "standard"])
async def test_the_extractive_answer(engine: RAGQueryEngine, strategy: str) -> None:
    with detector():
        response = await engine.aquery(QUESTION, access_reason="test", strategy=strategy)  # type: ignore[arg-type]
    assert "16 weeks" in response.answer
    assert response.trace["failures"] == []


async def test_correction_rounds(stores: Path) -> None:
    model = ScriptedChatModel(replies=lambda messages: "The moon is made of cheese. [1]")
    engine = engine_over(stores, model)
    with detector():
        response = await engine.aquery(QUESTION, access_reason="test")
    assert response.correction_rounds >= 1
    assert len(model.calls) >= 2


async def test_a_chat_endpoint(stores: Path, openai_stub: OpenAIStub) -> None:
    openai_stub.reply_with(StubReply("Parental leave lasts 16 weeks at full pay. [1]"))
    engine = open_engine(stores, settings=Settings(openai_base_url=openai_stub.base_url))
    with detector():
        response = await engine.aquery(QUESTION, access_reason="test")
    assert "16 weeks" in response.answer


async def test_failures_and_refusals(stores: Path) -> None:
    engine = engine_over(stores, ScriptedChatModel(replies=[TimeoutError()]))
    with detector():
        with pytest.raises(Exception, match="no reply in time"):
            await engine.aquery(QUESTION, access_reason="test")
        with pytest.raises(Exception, match="no corpus named"):
            await engine.aquery(QUESTION, access_reason="test", corpus_ids=["nope"])


async def test_passages_read_in_groups(tmp_path: Path, onnx_embedder: object) -> None:
    engine = engine_over(index_teams(tmp_path), noting_model())
    with detector():
        response = await engine.aquery(TEAMS_QUESTION, access_reason="test", config=asked())
    assert response.trace["map"]["combined"] > 1
    assert response.trace["failures"] == []
