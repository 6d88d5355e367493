"""HTML: the visible text, its structure, its encodings."""

from pathlib import Path

import pytest

from citeloop.knowledge.document import LoadedDocument
from citeloop.knowledge.loaders import load_file


def load(tmp_path: Path, content: str | bytes) -> LoadedDocument:
    path = tmp_path / "the-page.html"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    (document,) = load_file(path, tmp_path)
    return document


def blocks(document: LoadedDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def test_a_page(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        """<!doctype html><html><head><title> The
        Title </title><style>p {}</style></head><body><nav><p>Menu</p></nav>
        <h1>Big <b>heading</b><a href="#x">¶</a></h1><p>First&nbsp;line<br>second <i>li</i>ne.</p>
        <script>alert("no")</script><!-- no --><h2>Smaller</h2>Loose text<p>Then this.</p></body></html>""",
    )
    assert document.text == "Big heading¶\n\nFirst line\nsecond line.\n\nSmaller\n\nLoose text\n\nThen this."
    assert (document.title, document.media_type) == ("The Title", "text/html")
    assert [(heading.level, heading.title) for heading in document.headings] == [(1, "Big heading"), (2, "Smaller")]
    for heading in document.headings:
        assert document.text[heading.start : heading.end].startswith(heading.title)
    assert "\n\n".join(blocks(document)) == document.text


@pytest.mark.parametrize(
    ("markup", "title"),
    [
        ("<h1>From the heading</h1>", "From the heading"),
        ("<h2>x</h2>", "the-page"),
        ("<title> </title><h1>H</h1>", "H"),
    ],
)
def test_the_title_without_a_title_element(tmp_path: Path, markup: str, title: str) -> None:
    assert load(tmp_path, markup).title == title


def test_lists(tmp_path: Path) -> None:
    document = load(
        tmp_path, "<p>Do:</p><ol><li>one<ul><li>a</li><li><p>b</p></li></ul></li><li>two</li></ol><p>Done</p>"
    )
    assert blocks(document) == ["Do:", "1. one\n  - a\n  - b\n2. two", "Done"]


def test_a_list_item_without_text_leaves_no_mark_behind(tmp_path: Path) -> None:
    assert load(tmp_path, "<ul><li></li></ul><p>After</p>").text == "After"


def test_tables_become_rows_of_cells(tmp_path: Path) -> None:
    document = load(
        tmp_path,
        "<table><caption>Ages</caption><thead><tr><th>Name<th>Age</tr></thead><tr><td><p>Ada</p><p>L.</p><td>36<tr><td><td><tr><td>Bo<br>B<td></table>",
    )
    assert blocks(document) == ["Ages\n| Name | Age |\n| Ada L. | 36 |\n| Bo B | |"]
    assert document.blocks[0].by_line


def test_a_table_that_lays_out_a_page_is_no_table(tmp_path: Path) -> None:
    document = load(tmp_path, "<table><tr><td><h1>Top</h1><p>One.</p><td><table><tr><td>a<td>b</table></table>")
    assert blocks(document) == ["Top", "One.", "| a | b |"]
    assert [heading.title for heading in document.headings] == ["Top"]


def test_listings_keep_their_lines(tmp_path: Path) -> None:
    document = load(tmp_path, "<p>Run</p><pre><code>\ndef f():\n    <b>return</b>  1\n\n</code></pre><p>End</p>")
    assert blocks(document) == ["Run", "def f():\n    return  1", "End"]
    assert [block.by_line for block in document.blocks] == [False, True, False]


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>x</p>",
        "<div style='color:red; display: none'>x</div>",
        "<template><p>x</p></template>",
        "<div role=navigation>x</div>",
        "<svg><title>x</title></svg>",
        "<noscript>x</noscript>",
        "<select><option>x</select>",
    ],
)
def test_what_is_not_seen_is_not_read(tmp_path: Path, hidden: str) -> None:
    assert load(tmp_path, f"<p>Seen</p>{hidden}<p>too</p>").text == "Seen\n\ntoo"


def test_furigana_does_not_cut_words(tmp_path: Path) -> None:
    assert load(tmp_path, "<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京</ruby>です</p>").text == "東京です"


@pytest.mark.parametrize(
    "content",
    [
        '<meta charset="windows-1251"><p>Москва</p>'.encode("cp1251"),
        '<?xml version="1.0" encoding="koi8-r"?><html><p>Москва</p>'.encode("koi8-r"),
        '<meta charset="iso-8859-1"><p>Москва</p>'.encode(),  # declared wrongly: it is UTF-8
        '<meta charset="utf-8"><p>Москва</p>'.encode("utf-16"),
    ],
)
def test_declared_encodings(tmp_path: Path, content: bytes) -> None:
    assert load(tmp_path, content).text == "Москва"


def test_broken_and_deep_markup(tmp_path: Path) -> None:
    assert load(tmp_path, "<div>" * 3000 + "<p>deep <b>down").text == "deep down"
    assert load(tmp_path, "</p></li><td>a<td>b<h2>open").text.split() == ["ab", "open"]
