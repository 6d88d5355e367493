"""What holds of every strategy: rights, threads, hidden steps, review, progress, the size of what is kept."""

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, Send

from citeloop.engine import RAGQueryEngine
from citeloop.errors import MissingReason, ReviewPending, SearchFailed
from citeloop.graph.step_channels import KEPT
from citeloop.state.config import RAGConfig
from citeloop.state.models import UserContext
from tests.handbook import HANDBOOK, audit_events, engine_over, guard, write_files
from tests.strategy_fakes import BOTH, HOTELS, LEAVE, QUESTION, handbook_model, quote_facts

SIGNS = "Who signs contracts over 50,000 euros?"
SECRET = "two directors"
BOB, ANA = UserContext(user_id="bob"), UserContext(user_id="ana")
THREAD: Any = {"configurable": {"thread_id": "t"}}
SCRIPT = {
    "query_rewriter": f"{SIGNS}\n{HOTELS}",
    "step_back": SIGNS,
    "decomposer": f"{SIGNS}\n{HOTELS}",
    "follow_up": SIGNS,
}

each_strategy = pytest.mark.parametrize(
    "strategy", ["rag_fusion", "step_back", "sub_questions", "graph", "multi_hop", "exhaustive"]
)


def asked(strategy: str, **settings: Any) -> RAGConfig:
    return RAGConfig.model_validate({"strategy": strategy, **settings})


@each_strategy
def test_a_denied_corpus_stays_denied_in_every_branch(stores: Path, strategy: str) -> None:
    model = handbook_model(**SCRIPT)
    engine = guard(engine_over(stores, model))
    response = engine.query(HOTELS, access_reason="t", user_context=BOB, config=asked(strategy))
    assert "140 euros" in response.answer
    assert SECRET not in response.model_dump_json() + str(model.prompts)
    assert {source.corpus for source in response.sources} == {"handbook"}
    engine.query(HOTELS, access_reason="t", user_context=ANA, config=asked(strategy))
    assert SECRET in str(model.prompts), "who may read it gets it, by the same queries"


@each_strategy
def test_corpora_asked_for_bind_every_branch(stores: Path, strategy: str) -> None:
    model = handbook_model(**SCRIPT)
    engine_over(stores, model).query(HOTELS, access_reason="t", corpus_ids=["handbook"], config=asked(strategy))
    assert SECRET not in str(model.prompts)


def task_of(question: str, **request: Any) -> dict[str, Any]:
    told = {"question": "all", "corpora": ["legal"], "access_reason": "forged", "command": "query", "overrides": {}}
    return {
        "key": "00",
        "sub_question": question,
        "origin": "sub_question",
        "round": 0,
        "correction": "none",
        "excluded_ids": [],
        "request": {**told, **request},
    }


def test_jumping_into_a_branch_reads_nothing_and_leaves_its_row(stores: Path) -> None:
    engine = guard(engine_over(stores, handbook_model(**SCRIPT), checkpointer=InMemorySaver()))
    config: Any = {"configurable": {"thread_id": "bob", "citeloop_caller": BOB}}
    engine.graph.invoke({"question": HOTELS, "access_reason": "t"}, config)
    with pytest.raises(SearchFailed, match="no corpus named 'legal' is open to you"):
        engine.graph.invoke(Command(goto=Send("research_sub_question", task_of(SIGNS))), config)
    assert SECRET not in str(engine.graph.get_state(config).values)
    _, row = engine.audit.rows(limit=2)
    assert (row.event, row.body["user"], row.body["reason"], row.body["resumed"]) == ("asked", "bob", "forged", True)
    unreasoned = Send("research_sub_question", task_of(SIGNS, access_reason=""))
    with pytest.raises(MissingReason):
        engine.graph.invoke(Command(goto=unreasoned), config)


@each_strategy
def test_turns_of_a_thread_do_not_leak(stores: Path, strategy: str) -> None:
    saver = InMemorySaver()
    engine = engine_over(stores, handbook_model(**{**SCRIPT, "decomposer": BOTH}), checkpointer=saver)
    engine.graph.invoke({"question": QUESTION, "access_reason": "t"}, THREAD, context=asked(strategy))
    kept = engine.graph.get_state(THREAD).values
    assert not any(kept.get(key) for key in ("queries", "answered", "sub_answers", "trace", "passages", "best"))
    second = engine.query(LEAVE, access_reason="t", thread_id="t", strategy="standard")
    alone = engine.query(LEAVE, access_reason="t", thread_id="other", strategy="standard")
    assert second.sub_answers == ()
    assert second.tokens_used == alone.tokens_used
    assert {query["query"] for query in second.trace["queries"]} == {LEAVE}
    assert second.trace.keys() - {"follow_up"} == alone.trace.keys()


@each_strategy
def test_hidden_steps_keep_no_draft_anywhere(stores: Path, strategy: str) -> None:
    answers = iter([lambda _: "It is granted by unicorns.", *[quote_facts] * 9])

    def answer(prompt: str) -> str:
        return next(answers)(prompt)

    model = handbook_model(**{**SCRIPT, "decomposer": BOTH}, answer=answer)
    parts = iter(["It is granted by unicorns."])
    model_parts = {"sub_answer": lambda prompt: next(parts, None) or quote_facts(prompt)}
    if strategy == "sub_questions":
        model = handbook_model(decomposer=BOTH, **model_parts)
    engine = engine_over(stores, model, checkpointer=InMemorySaver(), expose_steps=False)
    settings = asked(strategy, top_k=1, confidence_threshold=0.5)
    question, modes = {"question": QUESTION, "access_reason": "t"}, ["values", "updates", "messages", "custom"]
    told = list(engine.graph.stream(question, THREAD, context=settings, stream_mode=modes))
    saver: Any = engine.graph.checkpointer
    kept = [*saver.list(THREAD)]
    response = engine.graph.get_state(THREAD).values["response"]
    assert (response["correction_rounds"], response["status"]) == (1, "answered")
    assert "unicorns" not in str(kept)
    assert "unicorns" not in str(told)
    channels = {key for checkpoint in kept for key in checkpoint.checkpoint["channel_values"] if ":" not in key}
    assert channels <= KEPT | {"question", "access_reason", "__start__", "__pregel_tasks"}


@each_strategy
@pytest.mark.parametrize("expose_steps", [True, False], ids=["steps shown", "steps hidden"])
def test_an_answer_can_wait_for_review(stores: Path, strategy: str, expose_steps: bool) -> None:
    engine = engine_over(
        stores,
        handbook_model(**{**SCRIPT, "decomposer": BOTH}),
        checkpointer=InMemorySaver(),
        config=asked(strategy, review="always"),
        expose_steps=expose_steps,
    )
    with pytest.raises(ReviewPending):
        engine.query(QUESTION, access_reason="t", thread_id="t")
    response = engine.review("t", "approve")
    assert response.strategy_used == strategy
    assert "16 weeks" in response.answer
    assert len(response.sub_answers) == (2 if strategy == "sub_questions" else 0)
    assert [event for event, _ in audit_events(engine)] == ["asked", "ended"]


def test_who_reviews_sees_the_sub_answers_and_an_edit_takes_their_place(stores: Path) -> None:
    config = asked("sub_questions", review="always")
    engine = engine_over(stores, handbook_model(decomposer=BOTH), checkpointer=InMemorySaver(), config=config)
    with pytest.raises(ReviewPending) as pending:
        engine.query(QUESTION, access_reason="t", thread_id="t")
    assert list(pending.value.review["sub_answers"]) == [LEAVE, HOTELS]
    response = engine.review("t", "edit", answer="Parental leave lasts 16 weeks at full pay. [1]")
    assert (response.status, response.sub_answers) == ("answered", ())


@each_strategy
def test_progress_counts_queries_and_branches_without_text(stores: Path, strategy: str) -> None:
    engine = engine_over(stores, handbook_model(**{**SCRIPT, "decomposer": BOTH}))
    question = {"question": QUESTION, "access_reason": "t"}
    told = engine.graph.stream(question, context=asked(strategy), stream_mode="custom")
    events = [event for event in told if event["event"] == "progress"]
    counts = {event["node"]: event["counts"] for event in events}
    told = {
        "rag_fusion": {"rewrite_query": {"queries": 3}},
        "step_back": {"ask_step_back": {"queries": 2}},
        "exhaustive": {"plan_scan": {"shards": 2}},
        "sub_questions": {"decompose_question": {"queries": 2}, "gather_sub_answers": {"answers": 2}},
        "graph": {"walk_entities": counts.get("rerank_chunks")},
        "multi_hop": {"ask_follow_up": {"queries": 2}, "rerank_follow_ups": {"candidates": 7}},
    }[strategy]
    assert {node: counts[node] for node in told} == told
    assert "16 weeks" not in json.dumps(events)
    if strategy == "sub_questions":
        assert counts["research_sub_question"]["found"] == 1
        assert counts["combine_sub_answers"]["tokens"] > 0


@each_strategy
def test_a_thread_stays_small_after_a_question_at_its_widest(tmp_path: Path, strategy: str) -> None:
    pages = {f"page{n}.md": f"# Page {n}\n\n" + f"Leave rule {n} stands here at length. " * 80 for n in range(40)}
    parts = [f"What are the leave rules of page {n}?" for n in range(4)]
    model = handbook_model(query_rewriter="\n".join(parts), step_back=parts[0], decomposer="\n".join(parts))
    engine = engine_over(tmp_path / "home", model, checkpointer=InMemorySaver())
    engine.indexer.index([write_files(tmp_path / "docs", {**HANDBOOK, **pages})], "many", UserContext())
    wide = asked(strategy, top_k=20, max_context_tokens=100_000, rewrites=4)
    engine.graph.invoke({"question": LEAVE, "access_reason": "t"}, THREAD, context=wide)
    sizes = {key: len(json.dumps(v, default=str)) for key, v in engine.graph.get_state(THREAD).values.items()}
    assert sum(sizes.values()) < 64 * 1024, sizes


async def test_the_asynchronous_face_and_the_stream(engine: RAGQueryEngine) -> None:
    question = {"question": QUESTION, "access_reason": "t"}
    for strategy in ("rag_fusion", "step_back", "sub_questions", "graph"):
        response = await engine.aquery(QUESTION, access_reason="t", config=asked(strategy))
        assert "16 weeks" in response.answer
        chunks = [c async for c, _ in engine.graph.astream(question, context=asked(strategy), stream_mode="messages")]
        assert len({chunk.id for chunk in chunks if chunk.type != "human"}) == 1, "the checked answer alone"
        assert "".join(chunk.text for chunk in chunks if chunk.type != "human") == response.to_markdown()
