"""The reasoning before a reply, in pieces: taken out as from the whole, and in time linear in it."""

import pytest

from citeloop.text import thinking
from citeloop.text.thinking import ThinkingStream, strip_thinking

REPLIES = [
    "Leave is 25 days. [1]",
    "<think>Is it 25? a > b</think>\n\nLeave is 25 days. [1]",
    " \n<THINKING>\nHm. <b> </thought>\n</Thinking> Leave is 25 days. </think> [1]",
    "<thinkers> rejoice. [1]",
    "<t",
    "<think></think>25",
    "<think>cut off before its end",
    "",
]


@pytest.mark.parametrize("reply", REPLIES)
def test_however_a_reply_is_cut_what_comes_out_is_the_reply(reply: str) -> None:
    for size in range(1, len(reply) + 1):
        stream = ThinkingStream()
        told = "".join(stream.feed(reply[at : at + size]) for at in range(0, len(reply), size))
        assert told == (strip_thinking(reply) if reply != "<t" else ""), size


def test_long_reasoning_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []

    class Counting:
        def search(self, text: str) -> None:
            looked_at.append(len(text))

    monkeypatch.setattr(thinking, "_CLOSING", Counting())
    stream = ThinkingStream()
    for piece in ("<think>", *["a > b "] * 1000):
        assert stream.feed(piece) == ""
    assert sum(looked_at) < 4 * 6 * 1000
