"""Indexing documents: only what changed, nothing left behind, nothing odd is fatal."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from citeloop.errors import CorpusNotFound, EmbeddingMismatch, InvalidRequest
from citeloop.knowledge import ingest_run
from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.index_report import IndexProgress, IndexReport
from citeloop.knowledge.ingest import Indexer
from citeloop.knowledge.pieces import DocumentPieces, cut_into_pieces
from citeloop.state.models import UserContext
from tests.integration.knowledge_stack import (
    CALLER,
    HashEmbedder,
    KnowledgeStack,
    fingerprint,
    open_stack,
    write_documents,
)


@pytest.fixture
def stack(home: Path) -> KnowledgeStack:
    return open_stack(home)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    write_documents(folder, 4)
    return folder


def index(stack: KnowledgeStack, *paths: Path, corpus: str = "handbook", prune: bool = False) -> IndexReport:
    return stack.indexer.index(paths, corpus, CALLER, prune=prune)


def counts(report: IndexReport) -> tuple[int, int, int, int]:
    return report.added, report.replaced, report.unchanged, report.removed


def assert_whole(stack: KnowledgeStack, clean_home: Path, *paths: Path) -> None:
    """The state is that of a clean run over the same files."""
    clean = open_stack(clean_home)
    clean.indexer.index(paths, "handbook", CALLER)
    assert fingerprint(stack) == fingerprint(clean)


def test_a_second_run_embeds_nothing(stack: KnowledgeStack, files: Path) -> None:
    assert counts(index(stack, files)) == (4, 0, 0, 0)
    embedded, version = stack.embedder.texts, stack.corpus().version
    assert counts(index(stack, files)) == (0, 0, 4, 0)
    assert stack.embedder.texts == embedded
    assert stack.corpus().version == version


def test_what_changed_is_replaced_everywhere(stack: KnowledgeStack, files: Path, tmp_path: Path) -> None:
    index(stack, files)
    version = stack.corpus().version
    (files / "book001.md").write_text("# Book 1\n\nA notebook of one remark.\n", encoding="utf-8")
    assert counts(index(stack, files)) == (0, 1, 3, 0)
    assert stack.corpus().version > version
    assert_whole(stack, tmp_path / "clean", files)


def test_prune_removes_what_is_gone_and_nothing_else(stack: KnowledgeStack, files: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_documents(other / "more", 1)
    index(stack, files)
    index(stack, other)
    (files / "book002.md").unlink()
    assert counts(index(stack, files)) == (0, 0, 3, 0)
    assert counts(index(stack, files, prune=True)) == (0, 0, 3, 1)
    assert {chunk.uri for chunk in stack.chunks()} == {"book000.md", "book001.md", "book003.md", "more/book000.md"}
    assert set(fingerprint(stack)["dense"]) == {chunk.id for chunk in stack.chunks()}


def test_prune_removes_lines_that_left_a_file_but_keeps_a_file_that_cannot_be_read(
    stack: KnowledgeStack, tmp_path: Path
) -> None:
    lines, page = tmp_path / "in" / "lines.jsonl", tmp_path / "in" / "page.txt"
    lines.parent.mkdir()
    rows = [f'{{"doc_id": "d{n}", "title": "T{n}", "text": "Notebook {n}."}}\n' for n in range(3)]
    lines.write_text("".join(rows), encoding="utf-8")
    page.write_text("A notebook page.", encoding="utf-8")
    index(stack, tmp_path / "in")
    lines.write_text("".join(rows[:2]), encoding="utf-8")
    page.write_bytes(b"\x00\xff\xfe\x00 binary \x00\x01")
    report = index(stack, tmp_path / "in", prune=True)
    assert report.removed == 1
    assert any("page.txt" in line for line in report.skipped)
    assert {chunk.uri for chunk in stack.chunks()} == {"lines.jsonl#d0", "lines.jsonl#d1", "page.txt"}


def test_what_cannot_be_used_is_told_and_the_rest_is_indexed(
    stack: KnowledgeStack, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(document: LoadedDocument, source_file: str, content_hash: str) -> DocumentPieces:
        if document.uri == "book002.md":
            raise ZeroDivisionError("what nobody thought of")
        return cut_into_pieces(document, source_file, content_hash)

    monkeypatch.setattr(ingest_run, "cut_into_pieces", cut)
    (files / "picture.png").write_bytes(b"\x89PNG\r\n")
    (files / "blank.md").write_text(" \n", encoding="utf-8")
    (files / "lines.jsonl").write_text('{"doc_id": "x", "title": "X", "text": "Good."}\n{"bad\n', encoding="utf-8")
    report = index(stack, files)
    assert report.added == 4
    told = {
        name: [line for line in report.skipped if name in line] for name in ("picture.png", "blank.md", "book002.md")
    }
    assert {name: len(lines) for name, lines in told.items()} == dict.fromkeys(told, 1)
    assert "what nobody thought of" in told["book002.md"][0]
    assert [line for line in report.skipped if "lines.jsonl" in line and "2" in line]


def test_a_file_name_that_is_not_unicode_is_written_out(stack: KnowledgeStack, files: Path) -> None:
    odd = files / os.fsdecode(b"caf\xe9.txt")
    try:
        odd.write_text("A notebook of coffee.", encoding="utf-8")
    except OSError:
        pytest.skip("the file system takes names in UTF-8 only")
    assert counts(index(stack, files)) == (5, 0, 0, 0)
    (chunk,) = [chunk for chunk in stack.chunks() if "coffee" in chunk.text]
    assert (chunk.uri, chunk.title) == (r"caf\xe9.txt", r"caf\xe9")
    assert counts(index(stack, files)) == (0, 0, 5, 0)
    odd.unlink()
    assert counts(index(stack, files, prune=True)) == (0, 0, 4, 1)


def test_two_documents_of_one_name_in_a_run_are_not_taken_for_one(stack: KnowledgeStack, tmp_path: Path) -> None:
    write_documents(tmp_path / "a", 1, edition="left")
    write_documents(tmp_path / "b", 1, edition="right")
    for _ in range(2):  # and the second run does not swap them
        report = index(stack, tmp_path / "a", tmp_path / "b")
        assert [line for line in report.skipped if "same name" in line]
        assert "left" in stack.chunks()[-1].text


def test_a_name_that_another_folder_holds_is_not_taken_from_it(stack: KnowledgeStack, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    write_documents(first, 1, edition="left")
    write_documents(second, 1, edition="right")
    index(stack, first)
    report = index(stack, second, prune=True)
    assert counts(report) == (0, 0, 0, 0)
    (line,) = report.skipped
    assert all(told in line for told in (str(first), str(second), "folder above both", "another corpus"))
    write_documents(first, 1, edition="third")
    assert counts(index(stack, second, first)) == (0, 1, 0, 0)  # whose name it is may change it, in any order
    assert "third" in stack.chunks()[-1].text
    (first / "book000.md").unlink()
    assert counts(index(stack, second)) == (0, 1, 0, 0)  # given up, it may be taken


def test_a_name_is_free_when_its_file_goes_by_another(stack: KnowledgeStack, tmp_path: Path) -> None:
    write_documents(tmp_path / "all" / "part", 1, edition="left")
    index(stack, tmp_path / "all" / "part")
    write_documents(tmp_path / "all", 1, edition="right")
    assert counts(index(stack, tmp_path / "all")) == (1, 1, 0, 0)
    assert {chunk.uri for chunk in stack.chunks()} == {"book000.md", "part/book000.md"}


def test_prune_leaves_alone_what_lies_elsewhere(stack: KnowledgeStack, files: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_documents(other / "more", 2)
    index(stack, files)
    index(stack, other)
    unmounted = other.rename(tmp_path / "unmounted")
    assert counts(index(stack, files, prune=True)) == (0, 0, 4, 0)
    unmounted.rename(other)
    (other / "more" / "book000.md").unlink()
    assert counts(index(stack, other, prune=True)) == (0, 0, 1, 1)


def test_a_moved_folder_is_unchanged_and_can_still_be_pruned(
    stack: KnowledgeStack, files: Path, tmp_path: Path
) -> None:
    index(stack, files)
    moved = files.rename(tmp_path / "moved")
    assert counts(index(stack, moved, prune=True)) == (0, 0, 4, 0)
    (moved / "book000.md").unlink()
    assert counts(index(stack, moved, prune=True)) == (0, 0, 3, 1)


def test_another_model_is_refused_before_anything_changes(stack: KnowledgeStack, files: Path) -> None:
    index(stack, files)
    before = fingerprint(stack)
    other = Indexer(stack.store, stack.vectors, stack.words, HashEmbedder(model_id="newer"))
    write_documents(files, 6, edition="second")
    with pytest.raises(EmbeddingMismatch, match="new corpus"):
        other.index([files], "handbook", CALLER)
    assert fingerprint(stack) == before


@pytest.mark.parametrize("names", [("a b", "a_b", "a/b"), ("手册", "手冊", "..", "x" * 300)])
def test_any_name_is_a_corpus_of_its_own(stack: KnowledgeStack, files: Path, names: Sequence[str]) -> None:
    for name in names:
        index(stack, files, corpus=name)
    assert {corpus.name for corpus in stack.store.open_corpora(None, CALLER)} == set(names)
    held = [set(fingerprint(stack, name)["dense"]) for name in names]
    assert all(held) and len(set.union(*held)) == sum(map(len, held))


def test_a_deleted_corpus_leaves_nothing_and_can_be_made_anew(stack: KnowledgeStack, files: Path, home: Path) -> None:
    index(stack, files)
    index(stack, files, corpus="other")
    gone = stack.corpus()
    stack.indexer.delete_corpus("handbook", CALLER)
    probe = stack.embedder.embed(["probe"])[0]
    with pytest.raises(CorpusNotFound):
        stack.corpus()
    assert stack.vectors.search(gone, probe, 9) == [] == stack.words.search(gone, {"notebook": 1.0}, 9)
    assert stack.vectors.search(stack.corpus("other"), probe, 9) != []
    assert len(list((home / "vectors").glob("*/header.bin"))) == 1
    index(stack, files)
    assert stack.corpus().version > gone.version
    assert len(fingerprint(stack)["dense"]) == len(stack.chunks())


def test_who_may_not_write_changes_nothing(stack: KnowledgeStack, files: Path) -> None:
    index(stack, files)
    eve = UserContext(user_id="eve")
    stack.store.grant("handbook", ["user:eve"], CALLER)
    assert stack.store.open_corpus("handbook", eve) == stack.corpus(), "she does read it"
    before = fingerprint(stack)
    (files / "book000.md").unlink()
    with pytest.raises(CorpusNotFound):
        stack.indexer.index([files], "handbook", eve, prune=True)
    with pytest.raises(CorpusNotFound):
        stack.indexer.delete_corpus("handbook", eve)
    assert fingerprint(stack) == before
    assert stack.store.corpus_summary(stack.corpus()).owner == CALLER.user_id


@pytest.mark.parametrize("lost", ["vectors", "lexical"])
def test_a_lost_index_is_put_back_without_embedding(home: Path, files: Path, tmp_path: Path, lost: str) -> None:
    index(open_stack(home), files)
    shutil.rmtree(home / lost)
    again = open_stack(home)
    index(again, files)
    assert again.embedder.texts == 0
    assert_whole(again, tmp_path / "clean", files)


def test_progress_ends_with_all_documents(stack: KnowledgeStack, files: Path) -> None:
    seen: list[IndexProgress] = []
    stack.indexer.index([files], "handbook", CALLER, progress=seen.append)
    assert (seen[-1].documents, seen[-1].total, seen[-1].chunks) == (4, 4, len(stack.chunks()))
    assert [step.documents for step in seen] == sorted(step.documents for step in seen)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "\udcff"])
def test_bad_requests_are_told(stack: KnowledgeStack, files: Path, name: str) -> None:
    with pytest.raises(InvalidRequest, match="name"):
        index(stack, files, corpus=name)
    with pytest.raises(InvalidRequest, match="nowhere"):
        index(stack, files / "nowhere")
    assert stack.store.open_corpora(None, CALLER) == []
