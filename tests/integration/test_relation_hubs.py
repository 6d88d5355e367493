"""Entities with relations to everything: what is asked for is found among them, at a cost that does not grow."""

from pathlib import Path

import pytest

from citeloop.retrieval.entity_walk import EntityWalker, Walk, WalkBounds
from tests.handbook import write_files
from tests.integration.knowledge_stack import CALLER, KnowledgeStack, open_stack
from tests.openai_stub import OpenAIStub
from tests.relation_reading import indexer_over, read_by_pattern

MANY = 40
ASKED = "Acme Corp -taught by-> Otto Brandt"


@pytest.fixture
def stack(home: Path, tmp_path: Path, openai_stub: OpenAIStub) -> KnowledgeStack:
    files = {f"{n:02}.md": f"# Receipt {n}\n\nAcme Corp was supplier of House X{n}.\n" for n in range(MANY)}
    files["zz.md"] = "# A letter\n\nAcme Corp was taught by Otto Brandt.\n"
    files["otto.md"] = "# Otto Brandt\n\nA teacher.\n"
    stack = open_stack(home)
    stack.indexer.index([write_files(tmp_path / "files", files)], "handbook", CALLER)
    openai_stub.answer = read_by_pattern
    assert indexer_over(stack, openai_stub).read("handbook", CALLER).relations == MANY + 1
    return stack


def walk(stack: KnowledgeStack, question: str, hub: int) -> Walk:
    bounds = WalkBounds(hops=1, starts=1, hub=hub, most=20)
    return EntityWalker(stack.store, stack.embedder).walk(question, [], None, CALLER, bounds)


def followed(walk: Walk) -> set[str]:
    return {path for paths in walk.relations.values() for path in paths}


@pytest.mark.parametrize("hub", [4, MANY, 200])
def test_what_is_asked_for_is_found_among_the_relations_of_a_hub(stack: KnowledgeStack, hub: int) -> None:
    found = walk(stack, "Who is the teacher of the one who taught Acme Corp?", hub)
    assert ASKED in followed(found)
    assert found.relations[found.reached[0]] == [ASKED]


def test_the_many_do_not_come_along(stack: KnowledgeStack) -> None:
    assert followed(walk(stack, "Who taught Acme Corp?", hub=4)) == {ASKED}
    assert followed(walk(stack, "Where is Acme Corp?", hub=4)) == set()
    assert 1 < len(followed(walk(stack, "Where is Acme Corp?", hub=200))) <= 8


def test_reads_of_a_hub_are_bounded(stack: KnowledgeStack) -> None:
    with stack.store.reading_entities([stack.corpus()]) as readers:
        reader = readers["handbook"].relations
        assert len(reader.of_entity("acme corp", 5)) == 5
        assert len(reader.of_kind("acme corp", "supplier of", 7)) == 7
        assert reader.kinds_of("acme corp", 9) == {"supplier of", "taught by"}
        assert len(reader.kinds_of("acme corp", 1)) == 1
        assert reader.kinds_of("house x3", 9) == {"supplier of"}
        assert reader.kinds_of("nobody", 9) == set()
