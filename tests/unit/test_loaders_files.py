"""Finding files, choosing their loader, decoding them, and what is told of files that give no document."""

import os
from pathlib import Path

import pytest

from citeloop.errors import EmptyDocument, InvalidRequest, LoadError, UndecodableText, UnreadableFile, UnsupportedFormat
from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.loaders import find_files, load_file

GERMAN = "Größe und Maß: über süße Äpfel läuft die Straße. "
JAPANESE = "これは日本語の文章です。文字コードを調べます。カタカナもあります。"


def write(path: Path, content: str | bytes = "words") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def load_one(path: Path) -> LoadedDocument:
    (document,) = load_file(path, path.parent)
    return document


def names(paths: list[Path], root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in find_files(paths)]


def test_folders_are_walked_by_name_and_hidden_ones_passed_over(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/b/c.md", "c.txt", ".hidden.md", ".git/config.txt", "a/.cache/x.md"):
        write(tmp_path / name)
    assert names([tmp_path], tmp_path) == ["a/b/c.md", "a/z.md", "b.md", "c.txt"]


def test_a_hidden_path_that_is_given_itself_is_read(tmp_path: Path) -> None:
    write(tmp_path / ".notes/a.md")
    assert names([tmp_path / ".notes"], tmp_path) == [".notes/a.md"]


def test_overlapping_paths_give_a_file_once(tmp_path: Path) -> None:
    write(tmp_path / "a/x.md")
    assert names([tmp_path / "a/x.md", tmp_path / "a", tmp_path], tmp_path) == ["a/x.md"]


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    write(tmp_path / "docs/x.md")
    write(tmp_path / "other/y.md")
    (tmp_path / "docs/back").symlink_to(tmp_path / "docs")
    (tmp_path / "docs/out").symlink_to(tmp_path / "other")
    (tmp_path / "docs/self").symlink_to(tmp_path / "docs/self")
    assert names([tmp_path / "docs"], tmp_path) == ["docs/out/y.md", "docs/self", "docs/x.md"]
    with pytest.raises(UnreadableFile, match="self"):
        load_one(tmp_path / "docs/self")


def test_a_missing_path_is_refused_before_anything_is_found(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no-such"):
        find_files([tmp_path, tmp_path / "no-such"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list and read everything")
def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0)
    (found,) = find_files([tmp_path])
    with pytest.raises(UnreadableFile, match="closed"):
        load_one(found)


def test_uris_are_relative_to_the_folder_indexed(tmp_path: Path) -> None:
    path = write(tmp_path / "in/deep er/Ä.TXT")
    (document,) = load_file(path, tmp_path)
    (elsewhere,) = load_file(path, tmp_path / "other")
    assert document.uri == "in/deep er/Ä.TXT"
    assert elsewhere.uri == path.as_posix()


def test_a_file_name_that_is_not_utf8_gives_a_printable_uri(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    try:
        write(path)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert load_one(path).uri == "caf\\xe9.txt"


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.docx", b"PK", UnsupportedFormat),
        ("README", b"words", UnsupportedFormat),
        ("empty.md", b"", EmptyDocument),
        ("blank.txt", b" \n\t\r\n\xc2\xa0", EmptyDocument),
        ("mark-only.txt", b"\xef\xbb\xbf", EmptyDocument),
        ("blank.html", b"<html><script>x()</script></html>", EmptyDocument),
        ("blank.jsonl", b"\n\n", EmptyDocument),
        ("zeros.txt", b"\x00" * 300, UndecodableText),
        ("random.md", bytes(range(256)) * 8, UndecodableText),
        ("broken-utf16.txt", b"\xff\xfea", UndecodableText),
    ],
)
def test_a_file_without_a_document_is_one_clear_line(
    tmp_path: Path, name: str, content: bytes, error: type[LoadError]
) -> None:
    with pytest.raises(error) as caught:
        list(load_file(write(tmp_path / name, content), tmp_path))
    assert str(caught.value).startswith(f"{name}: ")
    assert "\n" not in str(caught.value)


def test_a_folder_a_missing_file_and_a_pipe_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    for name in (".", "gone.txt", "pipe.txt"):
        with pytest.raises(UnreadableFile):
            list(load_file(tmp_path / name, tmp_path))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_unicode_encodings_with_and_without_a_mark(tmp_path: Path, encoding: str) -> None:
    text = "Plain words first.\r\nThen café.\rLast\n"
    assert load_one(write(tmp_path / "a.txt", text.encode(encoding))).text == text


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_either_byte_order_of_utf16(tmp_path: Path, mark: bytes) -> None:
    encoding = "utf-16-le" if mark == b"\xff\xfe" else "utf-16-be"
    assert load_one(write(tmp_path / "a.txt", mark + JAPANESE.encode(encoding))).text == JAPANESE


@pytest.mark.parametrize(
    ("encoding", "text"), [("cp1252", GERMAN * 3), ("cp932", JAPANESE * 3), ("gb18030", "我们在这里学习中文。" * 5)]
)
def test_older_encodings_are_guessed(tmp_path: Path, encoding: str, text: str) -> None:
    assert load_one(write(tmp_path / "a.txt", text.encode(encoding))).text == text


def test_plain_text_has_its_paragraphs_as_blocks(tmp_path: Path) -> None:
    document = load_one(write(tmp_path / "my notes.txt", "\n  One\nmore. \r\n\r\n\tTwo.\n \nThree"))
    assert [document.text[block.start : block.end] for block in document.blocks] == ["One\nmore.", "Two.", "Three"]
    assert (document.title, document.media_type, document.headings) == ("my notes", "text/plain", ())
