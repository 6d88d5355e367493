"""The passages of a full scan read in groups by a model, and its notes combined: what is sent, and what comes back."""

import json
import shutil
from pathlib import Path

import pytest

from citeloop.engine import open_engine
from citeloop.errors import ModelTimeout
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, NO_EVIDENCE, is_refusal
from citeloop.settings import Settings
from citeloop.text.tokens import count_tokens
from tests.handbook import engine_over
from tests.map_fakes import (
    QUESTION,
    TEAMS,
    ask,
    asked,
    index_teams,
    note_teams,
    notes_in,
    noting_model,
    reply_by_prompt,
)
from tests.openai_stub import OpenAIStub
from tests.strategy_fakes import calls_of, documents_in

BELLS = "casts bronze bells"


@pytest.fixture(scope="module")
def indexed_teams(tmp_path_factory: pytest.TempPathFactory, onnx_embedder: object) -> Path:
    return index_teams(tmp_path_factory.mktemp("teams"))


@pytest.fixture
def teams(indexed_teams: Path, home: Path) -> Path:
    """A home with a page for each team, of this test's own."""
    return Path(shutil.copytree(indexed_teams, home))


def test_every_passage_is_read_once_and_the_notes_are_combined_under_one_numbering(teams: Path) -> None:
    model = noting_model()
    response = ask(engine_over(teams, model))
    read = [text for prompt in calls_of(model, "partial_answer") for _, text in documents_in(prompt)]
    assert len(read) == len(set(read)) == len(TEAMS)
    assert all(deed in response.answer for deed in TEAMS.values())
    assert [source.number for source in response.sources] == [*range(1, len(TEAMS) + 1)]
    titles = {source.number: source.title for source in response.sources}
    for citation in response.citations:
        assert titles[citation.citation_id] in citation.claim_text
        assert citation.document_title == titles[citation.citation_id]
        assert citation.source_text in citation.claim_text + "."
    (combined,) = calls_of(model, "partial_answers_combiner")
    assert len(notes_in(combined)) == len(calls_of(model, "partial_answer")) > 1
    assert response.trace["grouping"]["decision"] == "map"
    assert response.tokens_used >= sum(count_tokens(prompt) for prompt in model.prompts)


def test_no_prompt_takes_more_than_the_window(teams: Path) -> None:
    model = noting_model(partial_answer=lambda prompt: note_teams(prompt) + "\nThe town is old." * 400)
    response = ask(engine_over(teams, model))
    room_for_answer = 1400 // 4
    assert max(map(count_tokens, model.prompts)) <= 1400 - room_for_answer
    assert len(calls_of(model, "partial_answers_combiner")) == 1
    assert {source.title for source in response.sources} <= TEAMS.keys()


def test_what_one_prompt_holds_takes_one_call(teams: Path) -> None:
    model = noting_model()
    response = ask(engine_over(teams, model), max_context_tokens=8000)
    assert len(model.calls) == len(calls_of(model, "answer")) == 1
    assert response.trace["grouping"]["decision"] == "single"
    assert len(response.sources) == len(TEAMS)


@pytest.mark.parametrize("settings", [{"map_calls": 1}, {"map_calls": 0}, {"top_k": 2}])
def test_settings_keep_to_one_prompt(teams: Path, settings: dict[str, int]) -> None:
    model = noting_model()
    ask(engine_over(teams, model), **settings)
    assert len(calls_of(model, "answer")) == len(model.calls) == 1


def test_the_settings_bound_calls_and_passages(teams: Path) -> None:
    model = noting_model()
    engine = engine_over(teams, model)
    assert len(ask(engine, map_calls=2).sources) < len(TEAMS)
    assert len(calls_of(model, "partial_answer")) == 2
    assert len(ask(engine, map_passages=6).sources) == 6
    assert len(ask(engine, top_k=7).sources) == 7


def test_without_a_chat_model_nothing_is_mapped(teams: Path) -> None:
    response = ask(engine_over(teams))
    assert response.trace["grouping"] == {"decision": "single", "reason": "no chat model is configured", "groups": 0}


def test_groups_that_say_nothing_of_it_are_left_out(teams: Path) -> None:
    def note(prompt: str) -> str:
        return next((line for line in note_teams(prompt).splitlines() if BELLS in line), NO_EVIDENCE)

    model = noting_model(partial_answer=note)
    response = ask(engine_over(teams, model))
    (combined,) = calls_of(model, "partial_answers_combiner")
    assert len(notes_in(combined)) == 1
    assert [(source.number, source.title) for source in response.sources] == [(1, "Foundry")]
    assert response.answer.endswith("for village churches. [1]")


def test_where_no_group_says_anything_the_answer_is_the_refusal(teams: Path) -> None:
    model = noting_model(partial_answer=f"{NO_EVIDENCE}.")
    response = ask(engine_over(teams, model), max_correction_rounds=2)
    assert response.answer.startswith(f"{INDEX_HAS_NO_ANSWER} ") and is_refusal(response.answer)
    assert (response.status, response.sources) == ("no_evidence", ())
    assert {name for name in ("answer", "partial_answers_combiner") if calls_of(model, name)} == set()


def test_a_failing_group_is_told_and_its_siblings_stand(teams: Path) -> None:
    model = noting_model(partial_answer=lambda p: TimeoutError() if BELLS in p else note_teams(p))
    response = ask(engine_over(teams, model))
    assert "Foundry" not in response.answer
    assert TEAMS["Archive"] in response.answer or TEAMS["Harbour"] in response.answer
    failed = [group for group in response.trace["map"]["groups"] if group["error"]]
    assert [group["error"].split(":")[0] for group in failed] == ["ModelTimeout"]
    assert [failure["error"] for failure in response.trace["failures"]] == [failed[0]["error"]]


@pytest.mark.parametrize("slow", [True, False], ids=["slow", "failing"])
def test_when_every_group_fails_one_prompt_answers(teams: Path, slow: bool) -> None:
    told = {} if slow else {"partial_answer": TimeoutError()}
    model = noting_model(delay_s=0.4 if slow else 0, **told)
    response = ask(engine_over(teams, model), model_timeout_s=0.1 if slow else 60)
    assert len(calls_of(model, "answer")) == 1
    assert response.trace["grouping"]["reason"] == "no group was answered"
    assert all(group["error"].startswith("ModelTimeout") for group in response.trace["map"]["groups"])
    assert response.citations


def test_a_combining_call_that_fails_is_the_models_failure(teams: Path) -> None:
    with pytest.raises(ModelTimeout):
        ask(engine_over(teams, noting_model(partial_answers_combiner=TimeoutError())))


def test_each_group_tells_that_it_is_done_without_text(teams: Path) -> None:
    told = {"question": QUESTION, "access_reason": "t"}
    events = list(engine_over(teams, noting_model()).graph.stream(told, context=asked(), stream_mode="custom"))
    groups = [event for event in events if event["node"] == "map_group"]
    assert sum(event["counts"]["groups"] for event in groups) == groups[0]["counts"]["total"] > 1
    assert sum(event["counts"]["passages"] for event in groups) == len(TEAMS)
    assert {event["counts"]["failures"] for event in groups} == {0}
    assert groups[0]["text"].startswith("map group: ")
    progress = json.dumps([event for event in events if event["event"] != "answer_sentence"])
    assert not [deed for deed in TEAMS.values() if deed in progress]


def test_over_a_real_endpoint(teams: Path, openai_stub: OpenAIStub) -> None:
    openai_stub.answer = lambda prompt: str(reply_by_prompt()(prompt))
    settings = Settings(openai_base_url=openai_stub.base_url, chat_timeout_s=20, chat_max_retries=0)
    response = ask(open_engine(teams, settings=settings))
    assert len(response.sources) == len(TEAMS)
    assert len(openai_stub.requests) == response.trace["grouping"]["groups"] + 1
    limits = {
        request.payload.get("max_completion_tokens", request.payload.get("max_tokens"))
        for request in openai_stub.requests
    }
    assert limits == {1400 // 4}
    assert response.tokens_used == 18 * len(openai_stub.requests), "as the endpoint counts"
