"""Verdicts of claims, and the claim policies, over the whole graph with real stores and the real scorer."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver

from citeloop.engine import RAGQueryEngine
from citeloop.errors import ReviewPending
from citeloop.models.prompt_reading import read_documents
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse
from citeloop.testing import ScriptedChatModel
from tests.handbook import engine_over

QUESTION = "How long is parental leave, and how is it requested?"
TRUE = "Parental leave lasts 16 weeks at full pay."
ALSO_TRUE = "It is requested from the team lead."
INVENTED = "Unicorns carry the forms to the ministry of magic."
STRICT: dict[str, Any] = {"claim_policy": "strict"}


def cite(messages: list[BaseMessage], sentence: str, page: str = "16 weeks") -> str:
    """``sentence`` with the number under which the prompt shows the ``page`` that holds those words."""
    documents = read_documents(str(messages[-1].content))
    return f"{sentence} [{next(document.label for document in documents if page in document.text)}]"


def engine_saying(stores: Path, *sentences: str, **options: Any) -> RAGQueryEngine:
    """Over a model that always says ``sentences``, each with the right passage's number."""

    def reply(messages: list[BaseMessage]) -> str:
        return " ".join(cite(messages, sentence) for sentence in sentences)

    return engine_over(stores, ScriptedChatModel(replies=reply), **options)


def ask(engine: RAGQueryEngine, **settings: Any) -> RAGResponse:
    config = RAGConfig(strategy="standard", **{"max_correction_rounds": 0, **settings})
    return engine.query(QUESTION, access_reason="test", config=config)


def test_every_claim_of_the_response_has_its_verdict_at_its_place(stores: Path) -> None:
    response = ask(engine_saying(stores, TRUE, INVENTED))
    assert [claim.verdict for claim in response.claims] == ["supported", "unsupported"]
    for claim in response.claims:
        start, end = claim.span_in_response
        assert response.answer[start:end] == claim.text
        assert claim.reason and claim.citation_ids
    assert RAGResponse.model_validate_json(response.model_dump_json()).claims == response.claims


def test_strict_returns_what_is_supported_and_tells_what_was_taken_out(stores: Path) -> None:
    response = ask(engine_saying(stores, TRUE, INVENTED), **STRICT)
    assert response.answer.startswith(TRUE) and "Unicorns" not in response.answer
    assert response.status == "answered"
    (told,) = response.trace["removed"]
    assert (told["text"], told["verdict"]) == (INVENTED, "unsupported")
    (first,) = response.trace["rounds"]
    assert "Unicorns" in first["draft"]
    assert first["verdicts"] == {"supported": 1, "unsupported": 1}


def test_strict_refuses_when_nothing_is_left(stores: Path) -> None:
    response = ask(engine_saying(stores, INVENTED), **STRICT)
    assert (response.status, response.sources, response.claims) == ("no_evidence", (), ())
    assert len(response.trace["removed"]) == 1


def test_a_round_can_only_improve_what_strict_returns(stores: Path) -> None:
    drafts = iter([(TRUE, ALSO_TRUE), (TRUE,), ()])

    def reply(messages: list[BaseMessage]) -> str:
        good = [cite(messages, sentence) for sentence in next(drafts)]
        return " ".join([*good, cite(messages, INVENTED, page="euros")])  # the hotels' page, then the meals'

    response = ask(engine_over(stores, ScriptedChatModel(replies=reply)), **STRICT, max_correction_rounds=2)
    assert response.trace["returned_round"] == 0
    assert [claim.text for claim in response.claims] == [TRUE, ALSO_TRUE]
    rounds = response.trace["rounds"]
    assert len(rounds) > 1 and all(told["reason"] for told in rounds)
    assert rounds[0]["next"] == "drop" and "taken out" in rounds[0]["reason"]


def test_no_text_that_was_taken_out_leaves_where_steps_are_hidden(stores: Path) -> None:
    engine = engine_saying(stores, TRUE, INVENTED, expose_steps=False)
    response = ask(engine, **STRICT, max_correction_rounds=1)
    assert response.trace["removed"] == [{"verdict": "unsupported"}]
    assert "Unicorns" not in response.model_dump_json()
    assert response.trace["rounds"][0]["verdicts"] == {"supported": 1, "unsupported": 1}


def test_off_is_told_in_status_trace_and_audit(stores: Path) -> None:
    engine = engine_saying(stores, TRUE, INVENTED, config=RAGConfig(claim_policy="off"))
    response = ask(engine, claim_policy="off", max_correction_rounds=2)
    assert (response.status, response.claims, response.correction_rounds) == ("unchecked", (), 0)
    assert response.trace["checks"] == "off"
    ended = engine.audit.rows(limit=1)[0].body
    assert (ended["outcome"], ended["checks"]) == ("unchecked", "off")
    checked = ask(engine, claim_policy="annotate")
    assert checked.claims and "checks" not in engine.audit.rows(limit=1)[0].body


@pytest.mark.parametrize(("least", "asked"), [("annotate", "off"), ("strict", "off"), ("strict", "annotate")])
def test_a_run_gets_no_weaker_policy_than_the_engine_has(stores: Path, least: Any, asked: Any) -> None:
    engine = engine_saying(stores, TRUE, INVENTED, config=RAGConfig(claim_policy=least))
    response = ask(engine, claim_policy=asked)
    assert response.claims
    assert ("Unicorns" in response.answer) is (least == "annotate")
    assert "checks" not in engine.audit.rows(limit=1)[0].body


@pytest.mark.parametrize(
    "asked", [{"similarity_threshold": 0}, {"require_citations": False}, {"min_citations_per_claim": 0}]
)
def test_nor_does_it_get_around_strict_by_what_a_claim_needs(stores: Path, asked: dict[str, Any]) -> None:
    engine = engine_saying(stores, TRUE, INVENTED, config=RAGConfig(**STRICT))
    assert "Unicorns" not in ask(engine, **{"require_citations": True, **asked}).answer


@pytest.mark.parametrize("asked", ["off", "annotate"])
def test_neither_a_context_nor_a_threads_state_gets_past_the_least_policy(stores: Path, asked: Any) -> None:
    least = RAGConfig(**STRICT, review="always")
    engine = engine_saying(stores, TRUE, INVENTED, checkpointer=InMemorySaver(), config=least)
    thread: Any = {"configurable": {"thread_id": "t"}}
    context = RAGConfig(claim_policy=asked, strategy="standard", max_correction_rounds=0)
    engine.graph.invoke({"question": QUESTION, "access_reason": "test"}, thread, context=context)
    state = engine.graph.get_state(thread).values
    assert "Unicorns" not in state["checked_response"]["answer"]
    request = {**state["request"], "checks": {**state["request"]["checks"], "claim_policy": asked}}
    engine.graph.update_state(thread, {"request": request}, as_node="compose_response")
    number = state["checked_response"]["claims"][0]["citation_ids"][0]
    with pytest.raises(ReviewPending):
        engine.review("t", "edit", answer=f"{TRUE} [{number}] {INVENTED} [{number}]")
    assert "Unicorns" not in engine.graph.get_state(thread).values["checked_response"]["answer"]


@pytest.mark.parametrize("policy", ["annotate", "strict"])
def test_claims_need_as_many_citations_as_are_set(stores: Path, policy: Any) -> None:
    response = ask(engine_saying(stores, TRUE), claim_policy=policy, min_citations_per_claim=2)
    assert not any(claim.verdict == "supported" for claim in response.claims)
    assert response.status == ("no_evidence" if policy == "strict" else "low_confidence")


def test_sub_questions_are_cut_before_and_after_they_are_combined(stores: Path) -> None:
    def reply(messages: list[BaseMessage]) -> str:
        prompt = str(messages[-1].content)
        if "<sub_answer>" in prompt:
            combined.append(prompt)
            return f"{TRUE} [1] {INVENTED} [1]"
        if "<document " in prompt:
            return f"{cite(messages, TRUE)} {cite(messages, INVENTED)}"
        return "How long is parental leave?\nHow is parental leave requested?"

    combined: list[str] = []
    engine = engine_over(stores, ScriptedChatModel(replies=reply))
    config = RAGConfig(strategy="sub_questions", max_correction_rounds=0, **STRICT)
    response = engine.query(QUESTION, access_reason="test", config=config)
    assert response.answer == f"{TRUE} [1]"
    assert len(combined) == 1 and "16 weeks" in combined[0] and "Unicorns" not in combined[0]
    assert all("Unicorns" not in part.answer for part in response.sub_answers)


def test_an_edit_is_not_cut_behind_the_back_of_who_wrote_it(stores: Path) -> None:
    engine = engine_saying(stores, TRUE, checkpointer=InMemorySaver(), config=RAGConfig(review="always", **STRICT))
    with pytest.raises(ReviewPending):
        engine.query(QUESTION, access_reason="test", thread_id="t")
    waiting = engine.graph.get_state({"configurable": {"thread_id": "t"}}).values["checked_response"]
    number = waiting["claims"][0]["citation_ids"][0]
    with pytest.raises(ReviewPending) as pending:
        engine.review("t", "edit", answer=f"{TRUE} [{number}] {INVENTED} [{number}]")
    assert "Unicorns" in pending.value.review["note"]
    assert pending.value.review["answer"] == f"{TRUE} [{number}]"
    response = engine.review("t", "approve")
    assert [claim.verdict for claim in response.claims] == ["supported"]
    assert "Unicorns" not in response.model_dump_json()


def test_a_thread_keeps_the_verdicts(stores: Path) -> None:
    engine = engine_saying(stores, TRUE, checkpointer=InMemorySaver())
    response = engine.query(QUESTION, access_reason="test", thread_id="t")
    kept = engine.graph.get_state({"configurable": {"thread_id": "t"}}).values["response"]["claims"]
    assert kept == [claim.model_dump(mode="json") for claim in response.claims]
    best = [
        state.values["best"]
        for state in engine.graph.get_state_history({"configurable": {"thread_id": "t"}})
        if state.values.get("best")
    ]
    assert best and all(draft["verdict"]["claims"] for draft in best)


def test_with_little_time_left_no_round_starts(stores: Path) -> None:
    def reply(messages: list[BaseMessage]) -> str:
        return cite(messages, INVENTED)

    llm = ScriptedChatModel(replies=reply, delay_s=0.3)
    response = ask(engine_over(stores, llm), max_correction_rounds=5, latency_budget_ms=500)
    assert response.correction_rounds == 0
    assert "are left" in response.trace["rounds"][-1]["reason"]
    assert response.status == "low_confidence"
