"""The answer cut into blocks and pieces: nothing of it is lost, and every claim and marker is found."""

from hypothesis import given
from hypothesis import strategies as st

from citeloop.rendering.answer_blocks import Piece, answer_blocks, split_blocks
from citeloop.state.models import AnswerClaim
from tests.answers import response_of

MARKDOWN = "# Leave\nIt lasts\n16 weeks.\n\n- one\n* two\n\n3. three\n```py\n# x[1]\n\n- y\n```\nEnd."


def claim(start: int, end: int) -> AnswerClaim:
    return AnswerClaim(text="t", span_in_response=(start, end), verdict="supported", support=0.9)


def test_blocks_of_markdown() -> None:
    assert [(b.kind, MARKDOWN[b.start : b.end], b.ordinal) for b in split_blocks(MARKDOWN)] == [
        ("heading", "Leave", 0),
        ("paragraph", "It lasts\n16 weeks.", 0),
        ("bullet", "one", 0),
        ("bullet", "two", 0),
        ("number", "three", 3),
        ("code", "# x[1]\n\n- y", 0),
        ("paragraph", "End.", 0),
    ]


def test_neighbours_of_a_kind_stand_together() -> None:
    assert [(kind, len(blocks)) for kind, blocks in answer_blocks("- a\n- b\n\nc", [], {})] == [
        ("bullet", 2),
        ("paragraph", 1),
    ]


def test_claims_and_markers_are_pieces_of_their_own() -> None:
    response = response_of()
    [(_, [block])] = answer_blocks(response.answer, response.claims, {1: "1", 2: "2", 3: "3"})
    assert block.pieces[:4] == [
        Piece("Parental leave lasts 16 weeks.", claim=1, opens=True),
        Piece(" "),
        Piece("1", source=1),
        Piece(" "),
    ]


def test_a_marker_is_known_by_its_label_and_none_stands_in_code() -> None:
    blocks = answer_blocks("See [D7] and [1].\n```\nx[D7]\n```", [], {1: "D7"})
    pieces = [piece for _, group in blocks for block in group for piece in block.pieces]
    assert [piece.source for piece in pieces] == [0, 1, 0, 0]
    assert pieces[2].text == " and [1]."


def test_a_claim_over_two_blocks_opens_once() -> None:
    blocks = answer_blocks("one two\n\nthree four", [claim(4, 14)], {})
    pieces = [piece for _, group in blocks for block in group for piece in block.pieces if piece.claim]
    assert [(piece.text, piece.opens) for piece in pieces] == [("two", True), ("three", False)]


@given(st.text(alphabet="ab [1]\n-#`*.\u202e", max_size=80), st.lists(st.integers(0, 80), max_size=6))
def test_every_block_is_whole_in_its_pieces(answer: str, borders: list[int]) -> None:
    ends = sorted(borders)
    claims = [claim(start, end) for start, end in zip(ends[::2], ends[1::2], strict=False)]
    blocks = [block for _, group in answer_blocks(answer, claims, {1: "1"}) for block in group]
    shown = ["".join(f"[{piece.text}]" if piece.source else piece.text for piece in block.pieces) for block in blocks]
    assert shown == [answer[block.start : block.end] for block in split_blocks(answer)]
