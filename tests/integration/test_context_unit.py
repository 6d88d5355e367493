"""Passages grown to their sections or documents: whole where there is room, true to the place, closed to others."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from citeloop.engine import RAGQueryEngine
from citeloop.errors import ReviewPending
from citeloop.nodes.drop_invalid_sources import drop_invalid_sources
from citeloop.nodes.expand_context import expand_context
from citeloop.retrieval.context_unit import ContextUnits, prompt_tokens
from citeloop.retrieval.passages import PassageReader
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Candidate, Passage
from citeloop.state.models import UserContext
from tests.handbook import engine_over, write_files
from tests.unit.graph_fakes import ChunkReader, InlineWorkers, candidate, passage, turn, verdict

SECTIONS = {
    name: "\n\n".join(
        f"{name} rule {n} is this: {fact} Keep it in mind at work, and ask when unsure. " * 2 + "It holds."
        for n in range(5)
    )
    for name, fact in (
        ("Leave", "leave is 16 weeks."),
        ("Travel", "hotels cost 140 euros."),
        ("Badges", "wear yellow."),
    )
}
PAGE = "# Guide\n\n## Bare\n\n" + "".join(f"### {name}\n\n{text}\n\n" for name, text in SECTIONS.items())
QUESTION = "How many weeks is leave?"
CALLER = UserContext()


@pytest.fixture
def guide(tmp_path: Path, onnx_embedder: object) -> RAGQueryEngine:
    engine = engine_over(tmp_path / "home", checkpointer=InMemorySaver())
    engine.indexer.index([write_files(tmp_path / "docs", {"guide.md": PAGE})], "guide", CALLER)
    return engine


def passages_of(engine: RAGQueryEngine, **settings: Any) -> list[Passage]:
    asked = {"question": QUESTION, "access_reason": "t"}
    context = RAGConfig(strategy="standard", max_correction_rounds=0, **settings)
    config: Any = {"configurable": {"thread_id": "t"}}
    updates = engine.graph.stream(asked, config, context=context, stream_mode="updates")
    return next(update["assemble_context"]["passages"] for update in updates if "assemble_context" in update)


def test_a_section_is_whole_and_stands_once(guide: RAGQueryEngine) -> None:
    chunks, sections = passages_of(guide, top_k=5), passages_of(guide, top_k=5, context_unit="section")
    assert len({passage["heading_path"][-1] for passage in chunks}) < len(chunks)
    assert len({passage["heading_path"][-1] for passage in sections}) == len(sections)
    assert sections[0]["chunk_id"] == chunks[0]["chunk_id"], "cited by the chunk that was found"
    text = SECTIONS["Leave"].strip()
    assert " ".join(sections[0]["text"].split()) == " ".join(f"### Leave\n\n{text}".split())
    assert sections[0]["text"] == PAGE[sections[0]["start"] : sections[0]["end"]]


def test_a_document_is_whole_under_the_headings_its_parts_share(guide: RAGQueryEngine) -> None:
    [page] = passages_of(guide, context_unit="document", max_context_tokens=50_000)
    assert page["heading_path"][:1] == ["Guide"]
    assert len(page["text"]) == page["end"] - page["start"]
    assert page["text"].split() == PAGE[page["start"] : page["end"]].split()


@pytest.mark.parametrize("unit", ["section", "document"])
@pytest.mark.parametrize("budget", [450, 700, 1500])
def test_the_budget_holds_and_several_sources_stand_side_by_side(guide: RAGQueryEngine, unit: Any, budget: int) -> None:
    reader = PassageReader(guide.store, guide.embedder)  # type: ignore[arg-type]
    corpus = guide.store.open_corpus("guide", CALLER)
    ids = [i for batch, _ in guide.store.scan_vectors(corpus) for i in batch]
    chunks = guide.store.read_chunks(corpus, ids)
    found = [chunks[0], chunks[-1], chunks[len(chunks) // 2]]
    excluded = {chunks[1].id}
    grown = ContextUnits(reader).grow(found, unit, budget, excluded, CALLER)
    assert sum(prompt_tokens(passage.chunk) for passage in grown) <= budget
    members = [member for passage in grown for member in passage.members]
    assert len(members) == len(set(members))
    assert not excluded.intersection(members)
    assert len(grown) > 1


def test_citations_point_to_their_true_place(guide: RAGQueryEngine) -> None:
    for unit in ("section", "document"):
        config = RAGConfig(strategy="standard", context_unit=unit)
        response = guide.query(QUESTION, access_reason="t", config=config)
        assert "16 weeks" in response.answer
        for citation in response.citations:
            assert PAGE[citation.source_start : citation.source_end] == citation.source_text


def test_a_reviewer_reads_the_grown_passage(guide: RAGQueryEngine) -> None:
    config = RAGConfig(strategy="standard", context_unit="section", top_k=1, review="always")
    with pytest.raises(ReviewPending):
        guide.query(QUESTION, access_reason="t", thread_id="t", config=config)
    response = guide.review("t", "edit", answer="Leave rule 4 is this: leave is 16 weeks. [1]")
    assert response.status == "answered"
    reader = PassageReader(guide.store, guide.embedder)  # type: ignore[arg-type]
    [passage] = reader.read_passages(response.sources, CALLER)
    assert passage["text"] == PAGE[response.sources[0].start : response.sources[0].end]


async def test_a_dropped_passage_takes_all_its_chunks_with_it() -> None:
    grown = Passage(**{**passage(1), "members": ["c1", "c7", "c8"]})
    invalid = verdict(invalid_chunk_ids=["c1"])
    update = await drop_invalid_sources(turn(passages=[grown, passage(2)], verdict=invalid))
    assert update["excluded_ids"] == ["c1", "c7", "c8"]
    assert [kept["chunk_id"] for kept in update["passages"]] == ["c2"]


async def test_what_a_passage_holds_already_is_no_expansion() -> None:
    grown = Passage(**{**passage(1), "members": ["c1", "c7"]})
    state = turn(passages=[grown], correction="neighbours")
    reader: Any = ChunkReader(beside=[candidate("c7")])
    workers: Any = InlineWorkers()
    assert (await expand_context(state, {}, reader=reader, workers=workers))["correction"] == "widen"
    reader.beside.append(candidate("c9"))
    update = await expand_context(state, {}, reader=reader, workers=workers)
    assert [found["chunk_id"] for found in update["candidates"]] == ["c1", "c9"]


def test_what_stands_around_is_read_as_the_caller(guide: RAGQueryEngine) -> None:
    [found] = passages_of(guide, top_k=1)
    reader = PassageReader(guide.store, guide.embedder)  # type: ignore[arg-type]
    candidate = Candidate(chunk_id=found["chunk_id"], corpus="guide", document_uri="", score=1.0)
    chunks, _ = reader.read_with_sentences([candidate], CALLER)
    guide.indexer.delete_corpus("guide", CALLER)
    with pytest.raises(Exception, match="no corpus named 'guide' is open to you"):
        ContextUnits(reader).grow(list(chunks.values()), "section", 5000, (), UserContext(user_id="bob"))
