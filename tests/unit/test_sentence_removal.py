"""Sentences taken out of an answer: nothing dangles, everything else stays as it was."""

import random

import pytest

from citeloop.verification.answer_text.answer_layout import read_places
from citeloop.verification.answer_text.citations import ParsedAnswer, parse_citations
from citeloop.verification.answer_text.claims import Claim, split_claims
from citeloop.verification.answer_text.dependents import INTRODUCES_NOTHING, REFERS_BACK, STANDS_UNDER, with_dependents
from citeloop.verification.answer_text.sentence_removal import without_sentences

KNOWN = {str(number): number for number in range(1, 10)}


def read(answer: str) -> tuple[ParsedAnswer, list[Claim]]:
    parsed = parse_citations(answer, KNOWN)
    return parsed, split_claims(parsed)


def gone(answer: str) -> dict[int, str]:
    """What goes with the claims that hold the word "bad"."""
    parsed, sentences = read(answer)
    taken = {i: "" for i, sentence in enumerate(sentences) if "bad" in sentence.text and sentence.is_claim}
    return with_dependents(sentences, read_places(parsed, sentences), taken)


def cleaned(answer: str) -> str:
    parsed, sentences = read(answer)
    return without_sentences(parsed, sentences, gone(answer))


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("Leave is long [1]. Desks are bad [2]. Rooms are booked [3].", "Leave is long [1]. Rooms are booked [3]."),
        ("Leave is long. [1] Desks are bad. [2][3] Rooms are booked. [3]", "Leave is long. [1] Rooms are booked. [3]"),
        ("[1] Desks are bad.\n[2] Rooms are booked.", "[2] Rooms are booked."),
        ("Desks are bad.\n[1]\nRooms are booked. [2]", "Rooms are booked. [2]"),
        ("Desks in all\noffices are bad [1]. Rooms are\nbooked [2].", "Rooms are\nbooked [2]."),
        ("Leave is long [1], and desks are very bad [2]. Rooms are booked [3].", "Rooms are booked [3]."),
        ("**Desks are bad.** [1] Rooms are booked [2].", "Rooms are booked [2]."),
        (
            "Desks are bad [1].\n\nRooms are booked [2].\n\nLeave is long [3].",
            "Rooms are booked [2].\n\nLeave is long [3].",
        ),
    ],
)
def test_a_sentence_goes_with_its_markers(answer: str, left: str) -> None:
    assert cleaned(answer) == left


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (
            "1. Leave is long [1]\n2. Desks are bad [2]\n3. Rooms are booked [3]",
            "1. Leave is long [1]\n2. Rooms are booked [3]",
        ),
        ("3) Desks are bad [1]\n4) Leave is long [2]", "3) Leave is long [2]"),
        (
            "1. Desks are bad [1]\n1. Leave is long [2]\n1. Rooms are booked [3]",
            "1. Leave is long [2]\n1. Rooms are booked [3]",
        ),
        (
            "- Leave is long [1]. Desks are bad [2].\n- Rooms are booked [3]",
            "- Leave is long [1].\n- Rooms are booked [3]",
        ),
        (
            "- Desks are bad [1]. Leave is long [2].\n- Rooms are booked [3]",
            "- Leave is long [2].\n- Rooms are booked [3]",
        ),
        ("- Desks are bad [1]\n  - Red ones as well [2]\n- Rooms are booked [3]", "- Rooms are booked [3]"),
        (
            "- Desks are bad [1]. Leave is long [2].\n  - Red ones as well [3]",
            "- Leave is long [2].\n  - Red ones as well [3]",
        ),
        (
            "| What | How |\n|---|---|\n| desks | bad [1] |\n| leave | long [2] |",
            "| What | How |\n|---|---|\n| leave | long [2] |",
        ),
    ],
)
def test_items_and_rows_go_whole_and_numbers_count_on(answer: str, left: str) -> None:
    assert cleaned(answer) == left


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("## Desks\n\nDesks are bad [1].\n\n## Leave\n\nLeave is long [2].", "## Leave\n\nLeave is long [2]."),
        (
            "# All\n\n## Desks\n\n**Red ones**\n\nDesks are bad [1].\n\n## Leave\n\nLeave is long [2].",
            "# All\n\n## Leave\n\nLeave is long [2].",
        ),
        ("The rules are:\n\n- Desks are bad [1]\n\nLeave is long [2].", "Leave is long [2]."),
        ("The rules are:\n\n- Desks are bad [1]\n- Rooms are booked [3]", "The rules are:\n\n- Rooms are booked [3]"),
        ("As follows:\n\n| What | How |\n|---|---|\n| desks | bad [1] |\n\nLeave is long [2].", "Leave is long [2]."),
        ("Run what is bad [1]:\n\n```\nrm [1]\n\n\nls\n```\n\nLeave is long [2].", "Leave is long [2]."),
        (
            "Run this one [1]:\n\n```\nrm [1]\n\n\nls\n```\n\nDesks are bad [2].",
            "Run this one [1]:\n\n```\nrm [1]\n\n\nls\n```",
        ),
        (
            "All\n=====\n\nDesks\n-----\n\nDesks are bad [1].\n\nLeave\n-----\n\nLeave is long [2].",
            "All\n=====\n\nLeave\n-----\n\nLeave is long [2].",
        ),
        ("Yes. Desks are bad [1].", ""),
        ("In short: desks are bad [1].", ""),
    ],
)
def test_nothing_dangles(answer: str, left: str) -> None:
    assert cleaned(answer) == left


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("Desks are bad [1]. However, leave is long [2].", "Leave is long [2]."),
        ("Desks are bad [1]. But in addition, leave is long [2].", "Leave is long [2]."),
        ("Leave is long [1]. However, desks are bad [2].", "Leave is long [1]."),
        (
            "Leave is long [1]. However, rooms are booked [2]. Desks are bad [2].",
            "Leave is long [1]. However, rooms are booked [2].",
        ),
        ("Desks are bad [1]. They are red [2]. Its colour fades [2]. Leave is long [3].", "Leave is long [3]."),
        ("Desks are bad [1]. Because of this, rooms are booked [2]. Leave is long [3].", "Leave is long [3]."),
        ("Desks are bad [1]. One of them is red [2]. Leave is long [3].", "Leave is long [3]."),
        ("Desks are bad [1]. When they fade, rooms are booked [2]. Leave is long [3].", "Leave is long [3]."),
        ("Desks are bad [1]. As such, rooms are booked [2]. Leave is long [3].", "Leave is long [3]."),
        ("Tische sind bad [1]. Sie sind rot [2]. Urlaub ist lang [3].", "Urlaub ist lang [3]."),
        ("Les tables sont bad [1]. Elles sont rouges [2]. Les congés sont longs [3].", "Les congés sont longs [3]."),
        ("假期很长。[1] 桌子bad。[2] 它是红色的。[2] 房间已预订。[3]", "假期很长。[1] 房间已预订。[3]"),
        ("Desks are bad [1]. Leave is long [3]. It is paid [3].", "Leave is long [3]. It is paid [3]."),
    ],
)
def test_what_followed_neither_hangs_in_the_air_nor_speaks_of_another_thing(answer: str, left: str) -> None:
    assert cleaned(answer) == left


def test_the_reason_is_told_for_each_sentence_that_goes_along() -> None:
    reasons = gone("The rules:\n\n- Desks are bad [1]. They fade [1].\n  - Red ones as well [2]")
    assert reasons == {0: INTRODUCES_NOTHING, 1: "", 2: REFERS_BACK, 3: STANDS_UNDER}


PIECES = (
    "## Part {n}\n\n",
    "Fact {n} holds here [1]. ",
    "Fact {n} holds there. [2][3] ",
    "However, fact {n} holds, e.g. for 2.5 m [3]. ",
    "\n\n- Item {n} is so [1]\n",
    "\n1. Item {n} is so [2]. More of it {n} there [3].\n2. Item {n} too [1]\n\n",
    "| a | row {n} |\n|---|---|\n| one {n} | two [1] |\n\n",
    "\n\nThis leads {n}:\n\n",
    "\n```\ncode {n} [1]\n```\n",
    "**Bold {n} is so.** [1] ",
    "第{n}条。[1] ",
)


@pytest.mark.parametrize("seed", range(60))
def test_whatever_goes_the_rest_stays_word_for_word_with_its_citations(seed: int) -> None:
    rng = random.Random(seed)
    answer = "".join(rng.choice(PIECES).format(n=n) for n in range(rng.randint(1, 25)))
    parsed, sentences = read(answer)
    taken = {i: "" for i, sentence in enumerate(sentences) if sentence.is_claim and rng.random() < 0.4}
    all_gone = with_dependents(sentences, read_places(parsed, sentences), taken)
    _, left = read(without_sentences(parsed, sentences, all_gone))
    wanted = [(s.text, s.numbers) for i, s in enumerate(sentences) if i not in all_gone]
    assert [(_loose(s.text), s.numbers) for s in left] == [(_loose(text), numbers) for text, numbers in wanted]
    assert taken.keys() <= all_gone.keys()


def _loose(text: str) -> str:
    return text.removeprefix("However, ").casefold()


def test_time_is_linear_in_length() -> None:
    import citeloop.verification.answer_text.sentence_removal as module

    counted: list[int] = []
    original = module._edited

    def counting(text: str, start: int, end: int, edits: list[object]) -> str:
        counted.append(len(edits))
        return original(text, start, end, edits)  # type: ignore[arg-type]

    def work(size: int) -> int:
        counted.clear()
        parsed, sentences = read("- Desks are bad [1]\n- Leave is long [2]\n" * size)
        module._edited = counting  # type: ignore[assignment]
        try:
            without_sentences(parsed, sentences, range(0, 2 * size, 2))
        finally:
            module._edited = original
        return sum(counted)

    assert work(400) <= 4.5 * work(100)
