"""Cutting: nested sections, whole blocks where they fit, nothing lost, nothing twice."""

from collections.abc import Sequence
from itertools import pairwise
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citeloop.knowledge import chunking
from citeloop.knowledge.chunking import cut_document
from citeloop.knowledge.document import Block, Heading, LoadedDocument
from citeloop.knowledge.loaders.plain_text import split_paragraphs
from citeloop.text.tokens import count_tokens

SENTENCE = "The lamp keeper wrote the hour of every passing ship in her book."  # 17 tokens


def document(text: str, headings: Sequence[Heading] = (), blocks: Sequence[Block] | None = None) -> LoadedDocument:
    found = split_paragraphs(text) if blocks is None else tuple(blocks)
    return LoadedDocument("a.md", "A", text, "text/markdown", tuple(headings), found)


def outline(*lines: str) -> LoadedDocument:
    """A document of paragraphs, where those that begin with ``#`` are headings."""
    text = "\n\n".join(lines)
    starts = [text.index(line) for line in lines]
    headings = [
        Heading(line.count("#"), line.strip("# "), start, start + len(line))
        for line, start in zip(lines, starts, strict=True)
        if line.startswith("#")
    ]
    return document(text, headings)


def chunk_texts(source: LoadedDocument, max_tokens: int = 200) -> list[str]:
    return [source.text[chunk.start : chunk.end] for chunk in cut_document(source, max_tokens)[1]]


@st.composite
def documents(draw: st.DrawFn) -> LoadedDocument:
    words = st.sampled_from(
        ["a", "word", "End. ", " ", "\n", "\n\n", "\r\n", "- ", "| x |", "水。", "\t", "x" * 40, "“", "!? "]
    )
    text = "".join(draw(st.lists(words, max_size=120)))
    edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=16)))
    spans = list(zip(edges[::2], edges[1::2], strict=False))
    roles = draw(st.lists(st.integers(0, 4), min_size=len(spans), max_size=len(spans)))
    headings = [Heading(role, "H", *span) for role, span in zip(roles, spans, strict=True) if role]
    blocks = [Block(*span, by_line=draw(st.booleans())) for role, span in zip(roles, spans, strict=True) if not role]
    return document(text, headings, blocks)


@given(documents(), st.sampled_from([1, 2, 8, 40, 200]))
def test_chunks_are_clean_ordered_within_budget_and_inside_one_section(source: LoadedDocument, max_tokens: int) -> None:
    sections, chunks = cut_document(source, max_tokens)
    starts = [section.start for section in sections] + [len(source.text)]
    for chunk in chunks:
        text = source.text[chunk.start : chunk.end]
        assert text == text.strip() != ""
        assert count_tokens(text) <= int(max_tokens * 1.75)
        assert starts[chunk.section] <= chunk.start < chunk.end <= starts[chunk.section + 1]
    assert all(before.end <= after.start for before, after in pairwise(chunks))
    assert (sections, chunks) == cut_document(source, max_tokens)


@given(documents(), st.sampled_from([1, 2, 8, 40, 200]))
def test_chunks_hold_all_text_but_headings_left_to_subsections(source: LoadedDocument, max_tokens: int) -> None:
    sections, chunks = cut_document(source, max_tokens)
    held = {position for chunk in chunks for position in range(chunk.start, chunk.end)}
    lost = {i for i, character in enumerate(source.text) if not character.isspace()} - held
    with_subsections = {section.parent for section in sections}
    left = [
        heading
        for heading in source.headings
        if {s.start: i for i, s in enumerate(sections)}[heading.start] in with_subsections
    ]
    assert all(any(heading.start <= position < heading.end for heading in left) for position in lost)


@given(documents())
def test_sections_nest(source: LoadedDocument) -> None:
    sections, _ = cut_document(source)
    for section in sections:
        if section.parent is None:
            assert len(section.heading_path) == min(section.level, 1)
            continue
        above = sections[section.parent]
        assert above.level < section.level
        assert above.start <= section.start <= section.end <= above.end
        assert section.heading_path[:-1] == above.heading_path


def test_levels_may_jump() -> None:
    sections, chunks = cut_document(outline("Before.", "### Deep", "a", "# Top", "b", "#### Far", "c", "## Near", "d"))
    assert [(section.heading_path, section.parent) for section in sections] == [
        ((), None),
        (("Deep",), None),
        (("Top",), None),
        (("Top", "Far"), 2),
        (("Top", "Near"), 2),
    ]
    assert [chunk.section for chunk in chunks] == [0, 1, 2, 3, 4]


def test_a_heading_stays_with_its_text() -> None:
    paragraph = " ".join([SENTENCE] * 11)  # 187 tokens: with the heading it is over the budget
    assert chunk_texts(outline("# " + "Heading " * 10, paragraph))[0].endswith(SENTENCE)


def test_a_bare_heading_is_left_to_its_subsections_and_kept_in_an_outline() -> None:
    assert chunk_texts(outline("# Top", "## Part", "Text.", "## Empty", "# Last")) == [
        "## Part\n\nText.",
        "## Empty",
        "# Last",
    ]


def test_blocks_fill_chunks_evenly() -> None:
    paragraphs = [f"{number}. " + " ".join([SENTENCE] * 3) for number in range(6)]  # 6 * 54 tokens
    assert [text.count(SENTENCE) for text in chunk_texts(document("\n\n".join(paragraphs)))] == [9, 9]


def test_a_paragraph_of_ordinary_size_is_not_cut() -> None:
    paragraph = " ".join([SENTENCE] * 20)  # about 330 tokens
    assert chunk_texts(document(f"Before it.\n\n{paragraph}\n\n{paragraph}")) == [
        f"Before it.\n\n{paragraph}",
        paragraph,
    ]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    texts = chunk_texts(document(" ".join([SENTENCE] * 40)))
    assert len(texts) > 3
    assert all(text.startswith("The lamp") and text.endswith("book.") for text in texts)
    assert max(map(len, texts)) - min(map(len, texts)) <= len(SENTENCE) * 1.5


def test_chinese_is_cut_between_sentences() -> None:
    texts = chunk_texts(document("灯塔看守人把每一艘过往船只的时间都写在她的本子里。" * 40))
    assert all(text.startswith("灯") and text.endswith("。") for text in texts)
    assert all(100 < count_tokens(text) <= 200 for text in texts)


def test_code_is_cut_between_lines() -> None:
    code = "\n".join(f"    value_{number} = compute(first, second)  # e.g. this. And that." for number in range(60))
    texts = chunk_texts(document(code, blocks=[Block(0, len(code), by_line=True)]))
    assert len(texts) > 1
    assert all(text.startswith("value_") and text.endswith("that.") for text in texts)


@pytest.mark.parametrize(("monster", "unit"), [("word " * 2000, "word"), ("x" * 9000, "x"), ("水" * 900, "水")])
def test_a_monster_sentence_is_cut_between_words_or_characters(monster: str, unit: str) -> None:
    texts = chunk_texts(document(monster))
    assert "".join("".join(texts).split()) == "".join(monster.split())
    assert all(text.startswith(unit) and text.endswith(unit) for text in texts)
    assert min(map(count_tokens, texts)) > 50


def test_a_tiny_paragraph_joins_its_neighbour() -> None:
    paragraph = " ".join([SENTENCE] * 13)  # over the budget for several blocks, by itself
    assert chunk_texts(document(f"{paragraph}\n\nSo it was.")) == [f"{paragraph}\n\nSo it was."]


def test_text_outside_all_blocks_is_not_lost() -> None:
    assert chunk_texts(document("[a]: http://x.example\n\nText.", blocks=[Block(23, 28)])) == [
        "[a]: http://x.example\n\nText."
    ]


def test_nothing_from_nothing() -> None:
    assert cut_document(document("")) == ([], [])
    assert cut_document(document(" \n ")) == ([], [])


@pytest.mark.parametrize("text", ["x" * 60_000, "word " * 12_000, SENTENCE * 900, "a\n\n" * 3_000])
def test_work_is_linear(text: str) -> None:
    def characters_counted(source: str) -> int:
        with mock.patch.object(chunking, "count_tokens", wraps=count_tokens) as counter:
            cut_document(document(source))
        return sum(len(call.args[0]) for call in counter.call_args_list)

    assert characters_counted(text * 4) < 4.5 * characters_counted(text)
