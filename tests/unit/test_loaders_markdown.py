"""Markdown: titles, headings and blocks, at their true offsets."""

from pathlib import Path

import pytest

from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.loaders import load_file


def load(tmp_path: Path, content: str) -> LoadedDocument:
    path = tmp_path / "the-file.md"
    path.write_bytes(content.encode())
    (document,) = load_file(path, tmp_path)
    assert document.text == content
    return document


def headings(document: LoadedDocument) -> list[tuple[int, str, str]]:
    return [(heading.level, heading.title, document.text[heading.start : heading.end]) for heading in document.headings]


def blocks(document: LoadedDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def test_headings_of_both_kinds(tmp_path: Path) -> None:
    document = load(tmp_path, "Top\n===\n\ntext\n\n## Sub ##\ntext\n\nLow\n---\n   ###### Deep\n")
    assert headings(document) == [
        (1, "Top", "Top\n==="),
        (2, "Sub", "## Sub ##"),
        (2, "Low", "Low\n---"),
        (6, "Deep", "###### Deep"),
    ]
    assert document.title == "Top"


def test_what_only_looks_like_a_heading_is_none(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        "```sh\n# a comment\n```\n\n    # code\n\n#no-space\n\n> # quoted\n\n- # in a list\n\n#\n\n\\# escaped\n",
    )
    assert headings(document) == []
    assert document.title == "the-file"


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        ("# **Bold** and `code` and *more*", "Bold and code and more"),
        ("# A [link](http://x.example/a_b) here { #its-id }", "A link here"),
        ("# Title {#short}", "Title"),
        ("# Title {: .cls #id }", "Title"),
        ("# `Body` &amp; <abbr title='x'>UI</abbr> ![logo](l.png)", "Body & UI logo"),
        ("# Use {{ braces }}", "Use {{ braces }}"),
        ("# See [the guide][g]\n\n[g]: http://x.example", "See the guide"),
        ("# 日本語の見出し", "日本語の見出し"),
    ],
)
def test_markup_is_stripped_from_headings(tmp_path: Path, markup: str, shown: str) -> None:
    assert load(tmp_path, markup).title == shown


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("---\ntitle: 'From the front'\ntags: [a]\n---\n\n## Second\n", "From the front"),
        ('+++\ntitle = "From TOML"\n+++\ntext', "From TOML"),
        ("---\r\ntitle: With returns\r\n---\r\ntext", "With returns"),
        ("---\ntitle: Front\n---\n# First heading\n", "First heading"),
        ("---\n\ntitle: not front matter\n\n---\n", "the-file"),
        ("---\ntitle: never closed\n", "the-file"),
        ("## Only a second level", "the-file"),
    ],
)
def test_the_title(tmp_path: Path, content: str, title: str) -> None:
    assert load(tmp_path, content).title == title


def test_front_matter_is_a_block_and_no_heading(tmp_path: Path) -> None:
    document = load(tmp_path, "---\ntitle: T\nurl: /x\n---\nText.\n")
    assert blocks(document) == ["---\ntitle: T\nurl: /x\n---", "Text."]
    assert document.headings == ()


def test_blocks_are_the_pieces_of_the_page(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        "Para\nwraps.\n\n- one\n\n- two\n\n```py\na = 1\n\nb = 2\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\n<div>\nhtml\n</div>\n\n    code\n",
    )
    assert blocks(document) == [
        "Para\nwraps.",
        "- one\n\n- two",
        "```py\na = 1\n\nb = 2\n```",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "> quote",
        "<div>\nhtml\n</div>",
        "code",
    ]
    assert [block.by_line for block in document.blocks] == [False, False, True, True, False, False, True]


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_offsets_hold_with_any_line_break(tmp_path: Path, line_break: str) -> None:
    document = load(
        tmp_path, line_break.join(["# Näme 水", "", "Text\x0b with\u2028odd breaks.", "", "## Next", "End"])
    )
    assert headings(document) == [(1, "Näme 水", "# Näme 水"), (2, "Next", "## Next")]
    assert blocks(document) == ["# Näme 水", "Text\x0b with\u2028odd breaks.", "## Next", "End"]


def test_admonition_marks_stay_with_their_text(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        "/// tip | Hint\n\nUse it.\n\nTwice.\n\n///\n\nAfter.\n\n"
        ":::note\n\n```\ncode\n```\n\n:::\n\n//// x\n\n/// y\n\nInner.\n\n///\n\n////\n",
    )
    assert blocks(document) == [
        "/// tip | Hint\n\nUse it.",
        "Twice.\n\n///",
        "After.",
        ":::note\n\n```\ncode\n```\n\n:::",
        "//// x\n\n/// y\n\nInner.\n\n///\n\n////",
    ]


def test_headings_written_in_html_count(tmp_path: Path) -> None:
    document = load(
        tmp_path, '<div align="center">\n<h1 class="x">The <em>Tool</em></h1>\n<p>badges</p>\n</div>\n\n## Use\n'
    )
    assert headings(document) == [(1, "The Tool", '<h1 class="x">The <em>Tool</em></h1>'), (2, "Use", "## Use")]
    assert document.title == "The Tool"


def test_titles_are_kept_to_a_line(tmp_path: Path) -> None:
    title = load(tmp_path, "a paragraph that somebody underlined " * 30 + "\n---\n").headings[0].title
    assert len(title) <= 200
    assert title.endswith("…")
