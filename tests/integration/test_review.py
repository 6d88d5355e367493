"""Human review: an answer waits, and a person approves it, edits it or rejects it; each leaves its rows."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from citeloop.engine import RAGQueryEngine
from citeloop.errors import InvalidRequest, ReviewPending
from citeloop.governance.access import LocalSingleUser, OwnersAndGrants
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER, WITHHELD
from citeloop.state.config import RAGConfig
from citeloop.state.models import UserContext
from tests.handbook import audit_events, engine_over, guard

QUESTION = "How long is parental leave?"
ANA = UserContext(user_id="ana")


@pytest.fixture(params=[True, False], ids=["steps shown", "steps hidden"])
def engine(request: pytest.FixtureRequest, stores: Path) -> RAGQueryEngine:
    return engine_over(
        stores, checkpointer=InMemorySaver(), config=RAGConfig(review="always"), expose_steps=request.param
    )


def ask(engine: RAGQueryEngine, question: str = QUESTION, **options: Any) -> ReviewPending:
    with pytest.raises(ReviewPending, match="waits for review on thread t") as pending:
        engine.query(question, access_reason="ticket 1", thread_id="t", **options)
    return pending.value


def test_an_answer_waits_and_leaves_when_it_is_approved(engine: RAGQueryEngine) -> None:
    pending = ask(engine)
    assert "16 weeks" in str(pending.review["answer"])
    assert pending.review["question"] == QUESTION
    assert [claim["verdict"] for claim in pending.review["claims"]] == ["supported"] * len(pending.review["claims"])
    assert (pending.review["removed"], pending.review["conflicts"]) == ([], [])
    assert not engine.graph.get_state({"configurable": {"thread_id": "t"}}).values.get("answer")
    assert audit_events(engine) == [("asked", ""), ("ended", "interrupted")]

    response = engine.review("t", "approve", note="checked by hand", user_context=ANA)
    assert "16 weeks" in response.answer
    assert response.trace["review"] == {"decision": "approve", "by": "ana", "note": "checked by hand"}


def test_the_decision_is_audited_with_who_took_it_and_what_it_continues(engine: RAGQueryEngine) -> None:
    ask(engine)
    first = engine.audit.rows(limit=1)[0].request_id
    response = engine.review("t", "approve", user_context=ANA)
    ended, asked = engine.audit.rows(limit=2)
    assert asked.body["user"] == "ana"
    assert (asked.body["resumed"], asked.body["continues"]) == (True, first)
    assert (ended.body["outcome"], ended.body["review"]["by"]) == (response.status, "ana")
    assert response.request_id == asked.request_id == ended.request_id


def test_a_rejected_answer_leaves_nothing_behind(engine: RAGQueryEngine) -> None:
    ask(engine)
    response = engine.review("t", "reject", note="not for print")
    assert (response.answer, response.status, response.citations, response.sources) == (WITHHELD, "rejected", (), ())
    assert "16 weeks" not in response.model_dump_json()
    assert audit_events(engine) == [("asked", ""), ("ended", "rejected")]
    values = engine.graph.get_state({"configurable": {"thread_id": "t"}}).values
    assert values["messages"][-1].text == WITHHELD
    assert "16 weeks" not in str(values)


def test_an_edit_is_validated_and_its_citations_are_new(engine: RAGQueryEngine) -> None:
    ask(engine)
    response = engine.review("t", "edit", answer="Parental leave lasts 16 weeks at full pay. [1]")
    assert response.answer == "Parental leave lasts 16 weeks at full pay. [1]"
    assert response.status == "answered"
    [citation] = response.citations
    assert citation.claim_text.startswith("Parental leave lasts 16 weeks")
    assert response.trace["review"]["decision"] == "edit"


def test_an_edit_to_a_refusal_leaves_without_sources(engine: RAGQueryEngine) -> None:
    ask(engine)
    response = engine.review("t", "edit", answer=INDEX_HAS_NO_ANSWER)
    assert (response.status, response.sources, response.context_used.chunks) == ("no_evidence", (), ())


def test_an_edit_that_the_sources_do_not_bear_out_comes_back(engine: RAGQueryEngine) -> None:
    ask(engine)
    with pytest.raises(ReviewPending) as again:
        engine.review("t", "edit", answer="Parental leave lasts 52 years and comes with a horse. [1]")
    assert "did not pass" in str(again.value.review["note"])
    response = engine.review("t", "approve")
    assert (response.status, response.trace["review"]["decision"]) == ("low_confidence", "approve")


def test_a_reject_is_not_undone_by_an_earlier_edit(engine: RAGQueryEngine) -> None:
    ask(guard(engine), user_context=ANA)
    with pytest.raises(ReviewPending):
        engine.review("t", "edit", answer="Parental leave lasts 52 years and comes with a horse. [1]", user_context=ANA)
    response = engine.review("t", "reject", note="never")
    assert (response.status, response.answer) == ("rejected", WITHHELD)
    assert response.trace["review"] == {"decision": "reject", "by": "local", "note": "never", "edited_by": "ana"}


def test_an_edit_is_judged_by_the_settings_of_the_asker(engine: RAGQueryEngine) -> None:
    ask(engine)
    lax = RAGConfig(similarity_threshold=0, confidence_threshold=0, max_invalid_citations=1)
    edit = {"decision": "edit", "answer": "Parental leave lasts 52 years and comes with a horse. [1]"}
    state = engine.graph.invoke(Command(resume=edit), {"configurable": {"thread_id": "t"}}, context=lax)
    assert "did not pass" in state["__interrupt__"][0].value["note"]


def test_an_answer_whose_sources_were_closed_can_still_be_rejected(engine: RAGQueryEngine) -> None:
    guard(engine)
    ask(engine, user_context=ANA)
    with pytest.raises(ReviewPending):
        engine.review("t", "edit", answer="Parental leave lasts 52 years and comes with a horse. [1]", user_context=ANA)
    engine.store.policy = LocalSingleUser()
    engine.store.revoke("handbook", ["everyone"], UserContext())
    engine.store.policy = OwnersAndGrants(local_user_is_trusted=False)
    assert engine.review("t", "reject", user_context=ANA).status == "rejected"


def test_of_two_decisions_at_once_one_is_carried_out(engine: RAGQueryEngine) -> None:
    ask(engine)
    with ThreadPoolExecutor(2) as pool:
        decisions = [pool.submit(engine.review, "t", decision) for decision in ("approve", "reject")]
    failed = [decision.exception() for decision in decisions if decision.exception()]
    assert [type(error) for error in failed] == [InvalidRequest]
    assert sum(row.body.get("outcome") in ("answered", "rejected") for row in engine.audit.rows()) == 1


def test_a_decision_takes_no_options_that_are_none_of_it(engine: RAGQueryEngine) -> None:
    ask(engine)
    with pytest.raises(InvalidRequest, match="unknown option user"):
        engine.review("t", "approve", user="ana")  # type: ignore[call-arg]
    with pytest.raises(ReviewPending) as again:
        engine.review("t", "approve", answer="Something else. [1]")
    assert "nothing else takes one" in str(again.value.review["note"])


@pytest.mark.parametrize(
    "reply",
    ["perhaps", {"decision": "edit"}, {"decision": "approve", "by": "root"}, 7, '{"a":' * 100_000, "{", ["approve"]],
    ids=lambda reply: str(reply)[:20],
)
def test_a_decision_that_cannot_be_read_is_asked_again(engine: RAGQueryEngine, reply: Any) -> None:
    ask(engine)
    config = {"configurable": {"thread_id": "t"}}
    state = engine.graph.invoke(Command(resume=reply), config)
    assert "cannot be read" in state["__interrupt__"][0].value["note"]
    assert "16 weeks" in engine.graph.invoke(Command(resume="approve"), config)["answer"]


def test_a_refusal_needs_no_decision(engine: RAGQueryEngine) -> None:
    response = engine.query("qqqq zzzz xxxx?", access_reason="t", thread_id="t")
    assert response.status == "no_evidence"


def test_the_pause_is_told_to_who_follows_the_progress(engine: RAGQueryEngine) -> None:
    asked = {"question": QUESTION, "access_reason": "t"}
    config = {"configurable": {"thread_id": "t"}}
    events = list(engine.graph.stream(asked, config, stream_mode="custom"))
    assert events[-1]["text"] == "the answer waits for a person's decision"
    resumed = list(engine.graph.stream(Command(resume="approve"), config, stream_mode="custom"))
    told = [(event["event"], event["node"]) for event in resumed]
    assert told == [
        ("progress", "review_answer"),
        ("answer_sentence", "audit_response"),
        ("progress", "audit_response"),
    ]


def test_nothing_waits_nothing_to_decide(engine: RAGQueryEngine) -> None:
    with pytest.raises(InvalidRequest, match="no answer waits"):
        engine.review("nowhere", "approve")


async def test_the_asynchronous_face(engine: RAGQueryEngine) -> None:
    with pytest.raises(ReviewPending):
        await engine.aquery(QUESTION, access_reason="t", thread_id="t")
    assert "16 weeks" in (await engine.areview("t", "approve")).answer


def test_a_run_cannot_ask_for_less_review_than_the_engine(engine: RAGQueryEngine) -> None:
    ask(engine, config=RAGConfig(review="off"))


def test_only_answers_of_low_confidence_wait(stores: Path) -> None:
    engine = engine_over(stores, checkpointer=InMemorySaver(), config=RAGConfig(review="low_confidence"))
    assert engine.query(QUESTION, access_reason="t", thread_id="t").status == "answered"
    doubtful = RAGConfig(confidence_threshold=1.0, max_correction_rounds=0)
    assert ask(engine, config=doubtful).review["status"] == "low_confidence"


def test_review_without_a_thread_is_refused_before_anything_is_read(stores: Path) -> None:
    engine = engine_over(stores)
    with pytest.raises(InvalidRequest, match="needs a thread"):
        engine.query(QUESTION, access_reason="t", config=RAGConfig(review="always"))
    assert engine.audit.rows() == []
    with pytest.raises(InvalidRequest, match="checkpointer"):
        engine.review("t", "approve")
