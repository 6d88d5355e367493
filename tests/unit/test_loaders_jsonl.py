"""JSON lines: one document a line, bad lines told and left out."""

import json
from pathlib import Path

import pytest

from citeloop.errors import UndecodableText
from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.loaders import load_file


def load(path: Path, content: str | bytes) -> tuple[list[LoadedDocument], list[str]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    skipped: list[str] = []
    return list(load_file(path, path.parent, skipped.append)), skipped


def line(doc_id: object, text: object = "Some text.", **fields: object) -> str:
    return json.dumps({"doc_id": doc_id, "text": text, **fields}) + "\n"


def test_each_line_is_a_document(tmp_path: Path) -> None:
    content = line("a", "One.\n\nTwo.", title=" First\n page ", extra=[1]) + "\n" + line(7)
    (first, second), skipped = load(tmp_path / "set.jsonl", content)
    assert (first.uri, first.title, first.text) == ("set.jsonl#a", "First page", "One.\n\nTwo.")
    assert [first.text[block.start : block.end] for block in first.blocks] == ["One.", "Two."]
    assert (second.uri, second.title) == ("set.jsonl#7", "7")
    assert skipped == []


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("{broken\n", "not JSON"),
        ("[" * 100_000 + "\n", "not JSON"),
        ('["a", "b"]\n', "not a JSON object"),
        (line(None), "needs doc_id"),
        (line("b", text=3), "needs doc_id"),
        (line("b", title=["x"]), "title"),
        (line("b", text="  "), "blank"),
        (line("a"), "stood before"),
        ('{"doc_id": "b", "text": "half \\ud83d pair"}\n', "Unicode"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_the_rest_stands(tmp_path: Path, bad: str, reason: str) -> None:
    documents, skipped = load(tmp_path / "set.jsonl", line("a") + bad + line("z"))
    assert [document.uri for document in documents] == ["set.jsonl#a", "set.jsonl#z"]
    (told,) = skipped
    assert told.startswith("set.jsonl line 2: ")
    assert reason in told


def test_bytes_that_are_not_utf8_spoil_their_own_line_only(tmp_path: Path) -> None:
    spoiled = '{"doc_id": "b", "text": "café"}\n'.encode("latin-1")
    documents, skipped = load(tmp_path / "set.jsonl", line("a").encode() + spoiled + line("c").encode())
    assert [document.uri for document in documents] == ["set.jsonl#a", "set.jsonl#c"]
    assert len(skipped) == 1


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_understood(tmp_path: Path, encoding: str) -> None:
    content = (line("a") + json.dumps({"doc_id": "ü", "text": "水\u2028水"}, ensure_ascii=False)).encode(encoding)
    documents, skipped = load(tmp_path / "set.jsonl", content)
    assert [document.uri for document in documents] == ["set.jsonl#a", "set.jsonl#ü"]
    assert documents[1].text == "水\u2028水"
    assert skipped == []


def test_utf16_that_breaks_off_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UndecodableText, match=r"set\.jsonl: broken utf-16"):
        load(tmp_path / "set.jsonl", line("a").encode("utf-16") + b"\x00")


def test_the_file_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(line("a") + line("b") * 100_000)
    told: list[str] = []
    documents = load_file(path, tmp_path, told.append)
    assert next(documents).uri == "set.jsonl#a"
    assert told == []
    documents.close()  # type: ignore[attr-defined]
