"""An answer is checked while it is written, and leaves sentence by sentence once it is accepted."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from citeloop.engine import RAGQueryEngine
from citeloop.errors import ModelUnavailable
from citeloop.state.config import RAGConfig
from citeloop.testing import ScriptedChatModel
from citeloop.verification.verifier import Verifier
from tests.handbook import engine_over

QUESTION = {"question": "How long is parental leave?", "access_reason": "t"}
DRAFT = "Leave lasts ninety unicorn years. [2] It is blue. [2]"
GOOD = "Parental leave lasts 16 weeks at full pay. [1]"
TWO = f"{GOOD} Here is more to read:\n\n- {GOOD}"


def engine(stores: Path, *replies: str, **options: Any) -> RAGQueryEngine:
    return engine_over(stores, ScriptedChatModel(replies=list(replies)), **options)


async def told(engine: RAGQueryEngine, **settings: Any) -> list[tuple[str, Any]]:
    run = engine.graph.astream(QUESTION, stream_mode=["custom", "messages"], context=RAGConfig(**settings))
    return [(mode, part) async for mode, part in run]


def events(parts: list[tuple[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [part for mode, part in parts if mode == "custom" and part["event"] == kind]


async def test_a_verdict_for_each_claim_and_no_word_of_it(stores: Path) -> None:
    parts = await told(engine(stores, DRAFT, TWO))
    checked = events(parts, "claim_checked")
    assert [(event["round"], event["number"]) for event in checked] == [(0, 1), (0, 2), (1, 1), (1, 2), (1, 3)]
    assert [event["verdict"] for event in checked if event["round"] == 1] == ["supported", "not_a_claim", "supported"]
    assert {event["verdict"] for event in checked if event["round"] == 0} <= {"unsupported", "contradicted", "partly"}
    assert "unicorn" not in str(parts)
    assert "16 weeks" not in str(checked)


async def test_sentences_leave_with_their_verdicts_and_are_the_answer(stores: Path) -> None:
    parts = await told(engine(stores, TWO))
    sentences = events(parts, "answer_sentence")
    response = engine(stores, TWO).query(**QUESTION)
    assert "".join(event["sentence"] for event in sentences) == response.answer
    assert [event["verdict"] for event in sentences] == [claim.verdict for claim in response.claims]
    assert [event["citation_ids"] for event in sentences] == [[1], [], [1]]
    assert sentences[-1]["sentence"] == f"- {GOOD}", "a bullet goes with its sentence"


async def test_the_message_stream_has_them_too_and_then_the_sources(stores: Path) -> None:
    parts = await told(engine(stores, TWO))
    chunks = [part[0] for mode, part in parts if mode == "messages" and part[0].type != "human"]
    sentences = [event["sentence"] for event in events(parts, "answer_sentence")]
    assert [chunk.text for chunk in chunks[:-1]] == sentences
    assert chunks[-1].text.lstrip().startswith("---\n**Sources:**")
    assert len({chunk.id for chunk in chunks}) == 1


async def test_the_message_of_the_thread_is_what_was_streamed(stores: Path) -> None:
    run = engine(stores, TWO).graph.astream(QUESTION, stream_mode=["values", "messages"])
    parts = [(mode, part) async for mode, part in run]
    streamed = [part[0] for mode, part in parts if mode == "messages" and part[0].type != "human"]
    kept: AIMessage = parts[-1][1]["messages"][-1]
    assert "".join(chunk.text for chunk in streamed) == kept.text
    assert {chunk.id for chunk in streamed} == {kept.id}
    assert streamed[-1].additional_kwargs == kept.additional_kwargs


@pytest.mark.parametrize("model", [None, ScriptedChatModel(replies=[GOOD], disable_streaming=True)])
async def test_a_draft_that_came_whole_has_its_verdicts_told_once(stores: Path, model: Any) -> None:
    checked = events(await told(engine_over(stores, model)), "claim_checked")
    assert [(event["node"], event["number"]) for event in checked] == [("validate_citations", 1)]


async def test_a_refusal_leaves_whole_and_without_a_verdict(stores: Path) -> None:
    asked = {"question": "Who won the chess championship on Mars?", "access_reason": "t"}
    run = engine_over(stores).graph.astream(asked, stream_mode="custom")
    [sentence] = [part async for part in run if part["event"] == "answer_sentence"]
    assert (sentence["verdict"], sentence["citation_ids"]) == ("", [])
    assert "No evidence found" in sentence["sentence"]


class HeldModel(ScriptedChatModel):
    """Writes its last word only when ``until`` holds."""

    until: Callable[[], bool]

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        chunks = [chunk async for chunk in super()._astream(messages, stop, run_manager, **kwargs)]
        for chunk in chunks[:-2]:
            yield chunk
        for _ in range(600):
            if self.until():
                break
            await asyncio.sleep(0.05)
        assert self.until(), "waited in vain"
        for chunk in chunks[-2:]:
            yield chunk


async def test_a_sentence_is_checked_while_the_model_still_writes(stores: Path) -> None:
    seen: set[str] = set()
    model = HeldModel(replies=[f"{GOOD} {GOOD} And so on."], until=lambda: "claim_checked" in seen)
    async for part in engine_over(stores, model).graph.astream(QUESTION, stream_mode="custom"):
        seen.add(part["event"])
    assert "answer_sentence" in seen


async def test_a_run_that_is_given_up_leaves_no_check_behind(stores: Path) -> None:
    model = HeldModel(replies=[f"{GOOD} {GOOD} And so on."], until=lambda: False)
    run = engine_over(stores, model).graph.astream(QUESTION, stream_mode="custom")
    async for part in run:
        if part["event"] == "claim_checked":
            break
    await run.aclose()  # type: ignore[attr-defined]
    assert [task for task in asyncio.all_tasks() if "DraftWatch" in repr(task.get_coro())] == []


async def test_a_check_that_fails_fails_the_run(stores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no scores today")

    monkeypatch.setattr(Verifier, "check_sentences", fail)
    with pytest.raises(RuntimeError, match="no scores today"):
        await told(engine(stores, TWO))


def test_the_synchronous_face_streams_the_same(stores: Path) -> None:
    parts = list(engine(stores, TWO).graph.stream(QUESTION, stream_mode="custom"))
    kinds = [part["event"] for part in parts]
    assert (kinds.count("claim_checked"), kinds.count("answer_sentence")) == (3, 3)


def test_hidden_steps_hide_the_drafts_that_were_watched(stores: Path) -> None:
    hidden = engine(stores, DRAFT, GOOD, expose_steps=False)
    parts = list(hidden.graph.stream(QUESTION, stream_mode=["values", "updates", "messages", "custom"]))
    assert "unicorn" not in str(parts)
    assert any(mode == "custom" and part["event"] == "claim_checked" for mode, part in parts)


class BreakingModel(ScriptedChatModel):
    """Its stream breaks off half way."""

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        chunks = [chunk async for chunk in super()._astream(messages, stop, run_manager, **kwargs)]
        for chunk in chunks[: len(chunks) // 2]:
            yield chunk
        raise ConnectionError("gone")


async def test_nothing_of_a_stream_that_breaks_off_leaves(stores: Path) -> None:
    parts: list[tuple[str, Any]] = []
    broken = engine_over(stores, BreakingModel(replies=[f"{DRAFT} {DRAFT} {GOOD}"]), expose_steps=False)
    modes: Any = ["values", "updates", "messages", "custom"]
    with pytest.raises(ModelUnavailable):
        async for mode, part in broken.graph.astream(QUESTION, stream_mode=modes):
            parts.append((mode, part))
    assert "unicorn" not in str(parts)
    assert events(parts, "answer_sentence") == []


@pytest.mark.parametrize("policy", ["strict", "annotate"])
async def test_a_model_that_stops_in_a_sentence(stores: Path, policy: Any) -> None:
    parts = await told(engine(stores, f"{GOOD} Every unicorn gets an"), claim_policy=policy, max_correction_rounds=0)
    sentences = events(parts, "answer_sentence")
    assert ("unicorn" in str(parts)) == (policy == "annotate" and "unicorn" in str(sentences))
    assert [event["verdict"] for event in events(parts, "claim_checked")] == ["supported", "unsupported"]


async def test_two_runs_at_once_tell_of_their_own_drafts_only(stores: Path) -> None:
    shared = engine(stores, TWO, TWO)
    both = await asyncio.gather(told(shared), told(shared))
    assert [[event["number"] for event in events(parts, "claim_checked")] for parts in both] == [[1, 2, 3]] * 2
    assert {"".join(event["sentence"] for event in events(parts, "answer_sentence")) for parts in both} == {TWO}


async def test_half_characters_in_a_stream_break_nothing(stores: Path) -> None:
    parts = await told(engine(stores, f"{GOOD} It is \ud83d so. [1] And \ude00 more. [1]"), claim_policy="strict")
    assert "16 weeks" in "".join(event["sentence"] for event in events(parts, "answer_sentence"))
