"""The nodes of the map: group the passages, read a group, gather what was noted."""

import asyncio
import time
from typing import Any

import pytest

from citeloop.errors import InvalidRequest, ModelTimeout
from citeloop.models.chat_caller import ChatCaller
from citeloop.nodes.gather_partial_answers import gather_partial_answers
from citeloop.nodes.group_passages import group_passages
from citeloop.nodes.map_group import map_group
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, NO_EVIDENCE
from citeloop.state.graph_state import GroupedCandidate, MappedGroup, MapPlan, MapTask
from citeloop.testing import ScriptedChatModel
from citeloop.verification.refusal import refusal_verdict
from citeloop.verification.verifier import Verifier
from tests.unit.graph_fakes import ChunkReader, InlineWorkers, candidate, passage, request, runtime, turn, verdict

LONG = "Leave is granted on request. " * 20
IDS = [f"c{number}" for number in range(9)]


def grouped(*ids: str) -> list[GroupedCandidate]:
    return [GroupedCandidate(**{**candidate(name), "members": [name]}) for name in ids]


def mapped(key: str, *cited: str, round: int = 0, read: tuple[str, ...] = (), **changes: Any) -> MappedGroup:
    """A group whose partial answer cites ``cited``, in order, as [1], [2]..."""
    answer = " ".join(f"Fact of {name}. [{number}]" for number, name in enumerate(cited, start=1))
    base = MappedGroup(
        key=key,
        round=round,
        verdict=verdict(answer=answer) if cited else refusal_verdict(NO_EVIDENCE, "none"),
        passages=[passage(number, chunk_id=name) for number, name in enumerate(cited, start=1)],
        tokens=1,
        error="",
        candidates=grouped(*(read or cited)),
        room=100,
    )
    return MappedGroup(**{**base, **changes})


def by_round(*groups: MappedGroup) -> dict[str, MappedGroup]:
    return {f"{group['round']:02d}|{group['key']}": group for group in groups}


async def plan(takes_notes: bool = True, settings: dict[str, Any] | None = None, **changes: Any) -> MapPlan:
    reader: Any = ChunkReader(dict.fromkeys(IDS, LONG))
    state = turn(**{"candidates": [candidate(name) for name in IDS], "request": asked_now(), **changes})
    context = runtime(**{"max_context_tokens": 1000, "latency_budget_ms": 600_000, **(settings or {})})
    workers: Any = InlineWorkers()
    update = await group_passages(state, context, {}, reader=reader, workers=workers, takes_notes=takes_notes)
    assert update["partial_answers"] == []
    return update["map_plan"]


def asked_now() -> Any:
    return request(started_at=time.time())


def ids_of(plan: MapPlan) -> list[list[str]]:
    return [[one["chunk_id"] for one in task["candidates"]] for task in plan["tasks"]]


async def test_the_best_passages_stand_in_the_first_group_and_each_in_one() -> None:
    made = await plan()
    groups = ids_of(made)
    assert made["decision"] == "map"
    assert [name for group in groups for name in group] == IDS
    assert len(groups) > 1
    assert [task["key"] for task in made["tasks"]] == [f"00.{number:02d}" for number in range(len(groups))]
    assert {task["groups"] for task in made["tasks"]} == {len(groups)}
    assert "text" not in str(made["tasks"][0]["candidates"]), "tasks are kept in checkpoints"


@pytest.mark.parametrize(
    ("takes_notes", "settings", "changes", "reason"),
    [
        (False, {}, {}, "no chat model"),
        (True, {"map_calls": 1}, {}, "map_calls is 1"),
        (True, {"max_context_tokens": 8000}, {}, "one prompt holds"),
        (True, {"map_passages": 1}, {}, "one prompt holds"),
        (True, {"latency_budget_ms": 50}, {"request": request(started_at=0.0)}, "latency_budget_ms has passed"),
    ],
)
async def test_one_prompt_is_enough(
    takes_notes: bool, settings: dict[str, Any], changes: dict[str, Any], reason: str
) -> None:
    made = await plan(takes_notes, settings, **changes)
    assert made["decision"] == "single"
    assert reason in made["reason"]


async def test_a_draft_from_one_prompt_tells_no_map_of_an_earlier_round() -> None:
    state = turn(candidates=[candidate("c0")], request=asked_now(), trace={"map": {"groups": ["gone"], "combined": 1}})
    reader: Any = ChunkReader({"c0": LONG})
    workers: Any = InlineWorkers()
    update = await group_passages(state, runtime(), {}, reader=reader, workers=workers, takes_notes=False)
    assert update["trace"]["map"] == {"groups": [], "combined": 0}


async def test_what_was_read_or_dropped_is_not_read_again_but_what_dropped_out_is() -> None:
    before = by_round(mapped("00.00", "c0", read=("c0", "c1")), mapped("00.01", read=("c2", "c3"), error="Timeout"))
    made = await plan(mapped=before, excluded_ids=["c4"], round=1, correction="widen")
    assert [name for group in ids_of(made) for name in group] == ["c2", "c3", *IDS[5:]]
    assert made["tasks"][0]["key"] == "01.00"
    all_read = by_round(mapped("00.00", "c0", read=tuple(IDS)))
    assert (await plan(mapped=all_read, round=1))["decision"] == "stop"


async def test_a_question_that_leaves_no_room_is_told() -> None:
    with pytest.raises(InvalidRequest, match="shorten the question"):
        await plan(request={**asked_now(), "question": "why " * 2000})


class Words:
    """Verifies by words."""

    verify = staticmethod(Verifier.by_words().verify)


async def read_group(reply: Any, *ids: str, room: int = 200, delay_s: float = 0, **settings: Any) -> Any:
    reader: Any = ChunkReader({name: f"Team {name} bakes bread." for name in ids}, gone=frozenset({"gone"}))
    model = ScriptedChatModel(replies=[reply], delay_s=delay_s)
    workers: Any = InlineWorkers()
    verifier: Any = Words()
    task = MapTask(key="00.03", round=0, groups=4, candidates=grouped(*ids), room=room, request=request())
    caller = ChatCaller(model, workers)
    context = runtime(**settings)
    update = await map_group(task, context, {}, reader=reader, caller=caller, verifier=verifier, workers=workers)
    return update, update["mapped"]["00|00.03"], model


async def test_a_partial_answer_is_checked_and_keeps_what_it_cites() -> None:
    update, result, model = await read_group("Team c2 bakes bread [2].\nTeam x flies [7].", "c1", "c2")
    assert [(p["number"], p["chunk_id"]) for p in result["passages"]] == [(2, "c2")]
    assert "[7]" not in result["verdict"]["answer"]
    assert update["tokens"] == {"map_group 00|00.03": result["tokens"]}
    assert update["search_failures"] == {}
    assert "at most 120 words" in model.prompts[0]


async def test_what_exceeds_its_room_is_cut_off_by_lines() -> None:
    _, result, _ = await read_group(
        "Team c1 bakes bread [1].\n" + "Team c2 bakes bread [2].\n" * 40, "c1", "c2", room=12
    )
    assert result["verdict"]["answer"].strip() == "Team c1 bakes bread [1]."


async def test_a_refusal_and_an_uncited_note_leave_nothing_to_combine() -> None:
    for reply in (f"{NO_EVIDENCE}.", "Bread is baked somewhere."):
        _, result, _ = await read_group(reply, "c1")
        assert (result["passages"], result["error"]) == ([], "")
    _, result, _ = await read_group("Bread is baked.", "c1", require_citations=False)
    assert [p["chunk_id"] for p in result["passages"]] == ["c1"]


async def test_a_group_that_left_the_store_asks_no_model() -> None:
    _, result, model = await read_group("?", "gone")
    assert (model.calls, result["passages"], result["error"]) == ([], [], "")


@pytest.mark.parametrize(("reply", "delay_s"), [(OSError("sk-0123456789abcdef refused"), 0), ("slow", 5)])
async def test_a_branch_that_drops_out_is_recorded_without_secrets(reply: Any, delay_s: float) -> None:
    update, result, _ = await read_group(reply, "c1", delay_s=delay_s, model_timeout_s=0.05)
    (failure,) = update["search_failures"].values()
    assert failure["error"] == result["error"]
    assert result["error"].startswith(("ModelTimeout", "ModelReplyInvalid"))
    assert "sk-0123456789abcdef" not in result["error"]
    assert result["verdict"]["refused"]


async def test_a_cancelled_run_is_no_failed_branch() -> None:
    branch = asyncio.create_task(read_group("?", "c1", delay_s=5))
    await asyncio.sleep(0)
    branch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await branch


async def gather(*groups: MappedGroup, tokens: int = 8000, **changes: Any) -> Any:
    workers: Any = InlineWorkers()
    state = turn(mapped=by_round(*groups), **changes)
    return await gather_partial_answers(state, runtime(max_context_tokens=tokens), workers=workers)


async def test_what_is_cited_gets_one_numbering_in_the_order_of_the_groups() -> None:
    gathered = await gather(mapped("00.01", "c5", "c6"), mapped("00.00", "c3"), mapped("00.02"))
    assert gathered["partial_answers"] == ["Fact of c3. [1]", "Fact of c5. [2] Fact of c6. [3]"]
    assert [(p["number"], p["chunk_id"]) for p in gathered["passages"]] == [(1, "c3"), (2, "c5"), (3, "c6")]
    assert gathered["trace"]["map"]["combined"] == 2
    assert "Fact" not in str(gathered["trace"]), "the trace holds no draft"


async def test_partial_answers_that_no_prompt_holds_make_way() -> None:
    groups = [mapped(f"00.{n:02d}", *(f"c{n}{i}" for i in range(30))) for n in range(3)]
    gathered = await gather(*groups, tokens=1000)
    assert len(gathered["partial_answers"]) == 1
    assert len(gathered["passages"]) == 30
    assert gathered["trace"]["map"]["combined"] == 1


async def test_nothing_found_is_the_refusal_only_where_all_was_read() -> None:
    read = await gather(mapped("00.00"), mapped("00.01"))
    assert read["draft"]["text"] == INDEX_HAS_NO_ANSWER
    assert "map_plan" not in read
    failed = await gather(mapped("00.00"), mapped("00.01", error=str(ModelTimeout("slow"))))
    assert failed["map_plan"]["decision"] == "single"
    assert "draft" not in failed


async def test_a_reread_group_takes_the_place_of_the_one_that_cites_what_was_dropped() -> None:
    first, second = mapped("00.00", "bad", "c1"), mapped("00.00", "c1", round=1)
    gathered = await gather(first, second, mapped("00.01", "c2"), excluded_ids=["bad"])
    assert [p["chunk_id"] for p in gathered["passages"]] == ["c1", "c2"]
