"""Chunks put together: every member stays at its true place."""

from hypothesis import given
from hypothesis import strategies as st

from citeloop.knowledge.corpus import Chunk
from citeloop.retrieval.joined_chunks import join_chunks


def cut(pieces: list[tuple[str, int]], headings: list[tuple[str, ...]] | None = None) -> list[Chunk]:
    """Chunks of ``(text, white space behind it)``."""
    chunks, start = [], 7
    for position, (text, gap) in enumerate(pieces):
        path = headings[position] if headings else ("Guide",)
        chunk_id = f"c{position}"
        end = start + len(text)
        chunks.append(Chunk(chunk_id, "handbook", "d", "s", position, "Guide", "g.md", path, text, start, end))
        start = end + gap
    return chunks


@given(
    st.lists(st.tuples(st.text("ab.", min_size=1, max_size=8), st.integers(0, 9)), min_size=1, max_size=9), st.data()
)
def test_each_member_stands_at_its_offset(pieces: list[tuple[str, int]], data: st.DataObject) -> None:
    chunks = cut(pieces)
    found = data.draw(st.sampled_from(chunks))
    joined = join_chunks(found, chunks)
    assert (joined.id, joined.start, joined.end) == (found.id, chunks[0].start, chunks[-1].end)
    assert len(joined.text) == joined.end - joined.start
    for chunk in chunks:
        assert joined.text[chunk.start - joined.start : chunk.end - joined.start] == chunk.text
    assert len(joined.text.split()) <= len(chunks), "nothing but white space between them"


def test_it_bears_the_headings_that_all_share() -> None:
    paths = [("Guide", "Pay", "Bonus"), ("Guide", "Pay"), ("Guide", "Leave")]
    chunks = cut([("a", 1), ("b", 2), ("c", 0)], paths)
    assert join_chunks(chunks[0], chunks).heading_path == ("Guide",)
    assert join_chunks(chunks[0], chunks[:2]).heading_path == ("Guide", "Pay")
    assert join_chunks(chunks[0], chunks[:1]) == chunks[0]
