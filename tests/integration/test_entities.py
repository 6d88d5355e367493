"""Entities in the store: found by any spelling, in any order of documents, gone with what named them."""

from pathlib import Path

from citeloop.state.models import UserContext
from tests.integration.knowledge_stack import CALLER, KnowledgeStack, entities, fingerprint, open_stack

DOCUMENTS = {
    "quist.md": "# Marta Quist (engineer)\n\nShe was born in Vardholm and built the first tide gauge.\n",
    "coast.md": "# A Quiet Coast\n\nThe survey was led by Marta Quist's office.\n\n## Findings\n\nIt rose by 3 mm.\n",
    "town.md": "# Vardholm\n\nA town on the coast, known for its harbour.\n",
}


def write(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(DOCUMENTS[name], encoding="utf-8")
    return folder


def uris(stack: KnowledgeStack, entity: str, limit: int = 10) -> list[str]:
    return [chunk.uri for chunk in stack.store.get_chunks_by_entity(stack.corpus(), entity, limit)]


def test_chunks_of_an_entity_those_about_it_first(home: Path, tmp_path: Path) -> None:
    stack = open_stack(home)
    stack.indexer.index([write(tmp_path / "files", *DOCUMENTS)], "handbook", CALLER)
    for spelling in ("Marta Quist", "marta quist", "Marta Quist's", "MARTA QUIST (surveyor)"):
        assert uris(stack, spelling) == ["quist.md", "coast.md"]
    assert uris(stack, "Marta Quist", 1) == ["quist.md"]
    assert uris(stack, "Findings") == ["coast.md"]
    assert uris(stack, "Nobody At All") == uris(stack, "") == []


def test_the_order_of_documents_makes_no_difference(home: Path, tmp_path: Path) -> None:
    one, other = open_stack(home), open_stack(tmp_path / "other")
    for name in DOCUMENTS:
        one.indexer.index([write(tmp_path / "files", name)], "handbook", CALLER)
    for name in reversed(DOCUMENTS):
        other.indexer.index([write(tmp_path / "files", *DOCUMENTS) / name], "handbook", CALLER)
    assert fingerprint(one) == fingerprint(other)


def test_entities_go_with_the_documents_that_named_them(home: Path, tmp_path: Path) -> None:
    stack, files = open_stack(home), write(tmp_path / "files", *DOCUMENTS)
    stack.indexer.index([files], "handbook", CALLER)
    (files / "quist.md").unlink()
    (files / "town.md").write_text("# Vardholm\n\nA town with a lighthouse by Otto Brandt.\n", encoding="utf-8")
    stack.indexer.index([files], "handbook", CALLER, prune=True)
    clean = open_stack(tmp_path / "clean")
    clean.indexer.index([files], "handbook", CALLER)
    assert entities(stack, stack.corpus()) == entities(clean, clean.corpus())
    assert uris(stack, "Marta Quist") == ["coast.md"]
    assert uris(stack, "Otto Brandt") == ["town.md"]
    corpus = stack.corpus()
    stack.indexer.delete_corpus("handbook", CALLER)
    assert entities(stack, corpus) == {}


def test_a_corpus_does_not_see_the_entities_of_another(home: Path, tmp_path: Path) -> None:
    stack = open_stack(home)
    stack.indexer.index([write(tmp_path / "one", "coast.md")], "handbook", CALLER)
    stack.indexer.index([write(tmp_path / "two", "quist.md")], "secret", UserContext(user_id="bob"))
    assert uris(stack, "Marta Quist") == ["coast.md"]
    assert uris(stack, "tide gauge") == []
    with stack.store.reading_entities([stack.corpus()]) as readers:
        reader = readers["handbook"]
        assert reader.known(["marta quist", "vardholm", "quiet coast"], 9).keys() == {"marta quist", "quiet coast"}


def test_counts_stop_at_the_limit(home: Path, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for number in range(6):
        (files / f"{number}.md").write_text(
            f"# Page {number}x\n\nSeen from Vardholm on day {number}.\n", encoding="utf-8"
        )
    stack = open_stack(home)
    stack.indexer.index([files], "handbook", CALLER)
    with stack.store.reading_entities([stack.corpus()]) as readers:
        reader = readers["handbook"]
        assert reader.known(["vardholm"], 4) == {"vardholm": (0, 4)}
        assert reader.known(["vardholm"], 9) == {"vardholm": (0, 6)}
        assert len(reader.chunks("vardholm", 1, 3).ids) == 3
