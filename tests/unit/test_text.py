"""Sentences, words and token counts: exact offsets, no text lost, linear work."""

import re
from itertools import pairwise
from unittest import mock

import pytest
import sentencex
from hypothesis import given
from hypothesis import strategies as st

from citeloop.text.sentences import split_sentences
from citeloop.text.tokens import count_tokens
from citeloop.text.words import STOPWORDS, content_stems, stem, words

MARKUP = st.lists(
    st.sampled_from(
        [
            "Go now. ",
            "It is 3.5 m",
            "\n",
            "\n\n",
            "- item",
            "1. ",
            "# Top",
            " | ",
            "“Yes",
            "。",
            "東京",
            "\r\n",
            "  ",
            "é",
        ]
    )
).map("".join)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@given(st.one_of(MARKUP, st.text(max_size=300)))
def test_sentences_hold_all_text_but_white_space_in_order(text: str) -> None:
    spans = split_sentences(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ito paid $3.50. She left.", ["Dr. Ito paid $3.50.", "She left."]),
        ("A line that\nis wrapped. Next.", ["A line that\nis wrapped.", "Next."]),
        ("No full stop\n\nNew paragraph", ["No full stop", "New paragraph"]),
        ("## Heading\nIts text.", ["## Heading", "Its text."]),
        ("Buy:\n- milk\n- bread and\n  butter", ["Buy:", "- milk", "- bread and\n  butter"]),
        ("1. Open it.\n2. Close it.", ["1. Open it.", "2. Close it."]),
        ("|a|b|\n|-|-|\n|1|2|", ["|a|b|", "|-|-|", "|1|2|"]),
        (
            "| 1.1 | Check it. Then log. | 2 |\n| 1.2 | Stop. |",
            ["| 1.1 | Check it. Then log. | 2 |", "| 1.2 | Stop. |"],
        ),
        ("Use `int | None` here. Or not.", ["Use `int | None` here.", "Or not."]),
        ("(3) It ended. They left.", ["(3) It ended.", "They left."]),
        ("Ito 20 (3) Sato 40 (5) It ended. They left.", ["Ito 20", "(3) Sato 40", "(5) It ended.", "They left."]),
        ("雨が降った。傘を買った！もう止んだ？", ["雨が降った。", "傘を買った！", "もう止んだ？"]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_sentence_boundaries(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_open_quotation_marks_do_not_make_segmenting_quadratic() -> None:
    text = "“He said. " * 20_000
    with mock.patch.object(sentencex, "segment", wraps=sentencex.segment) as segment:
        found = sentences(text)
    lengths = [len(call.args[1]) for call in segment.call_args_list]
    assert max(lengths) <= 10_000  # the segmenter is quadratic within a call,
    assert sum(lengths) <= 3 * len(text)  # and what it is given in all is linear
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_sentence_across_the_segmenting_window_stays_whole() -> None:
    filler = "Short one. " * 905  # 9,955 characters
    assert sentences(filler + "This sentence lies right across the border of the window. End.")[-2:] == [
        "This sentence lies right across the border of the window.",
        "End.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't pay $1,234.50!", ["don't", "pay", "1,234.50"]),
        ("snake_case v2.1", ["snake", "case", "v2.1"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("水", ["水"]),
        ("서울은 커요", ["서울", "울은", "커요"]),
        ("iPhone发布2024年", ["iphone", "发布", "2024", "年"]),
        ("...", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(max_size=200))
def test_words_are_never_blank_and_come_from_the_text(text: str) -> None:
    lowered = text.lower()
    assert all(word.strip() and word in lowered for word in words(text))


def test_stems_leave_stop_words_out_and_keep_repeats() -> None:
    assert content_stems("The dogs and the dog's running") == ["dog", "dog", "run"]
    assert stem("東京") == "東京"


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("猫は", "猫が", {"猫"}),
        ("税", "税率", {"税"}),
        ("책은 비싸다", "책이", {"책"}),
        ("東京タワー", "東京駅", {"東京", "東", "京"}),
        ("ภาษี", "ภาค", {"ภา"}),
    ],
)
def test_a_word_of_one_character_is_shared_with_a_longer_run(one: str, other: str, shared: set[str]) -> None:
    assert set(content_stems(one)) & set(content_stems(other)) == shared


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=200))
def test_stems_of_spaced_scripts_are_those_of_their_words(text: str) -> None:
    assert content_stems(text) == [stem(word) for word in words(text) if word not in STOPWORDS]


@pytest.mark.parametrize(
    ("text", "at_least", "at_most"),
    [
        ("", 0, 0),
        ("The council of the town decided to plant three hundred trees along the river.", 15, 19),
        ("| 4.1.2 | 07-11 | CWE-89 |", 16, 22),
        ("東京は日本の首都です。", 11, 11),
        ("Москва большая", 6, 8),
    ],
)
def test_token_counts_err_high_but_not_wildly(text: str, at_least: int, at_most: int) -> None:
    assert at_least <= count_tokens(text) <= at_most


@given(st.text(), st.text())
def test_token_counts_add_up(left: str, right: str) -> None:
    both = count_tokens(left + right)
    assert max(count_tokens(left), count_tokens(right)) <= both <= count_tokens(left) + count_tokens(right)
    assert both <= len(left + right)


def test_counts_of_equal_words_do_not_depend_on_line_breaks() -> None:
    assert count_tokens("one two three") == count_tokens(re.sub(" ", "\n", "one two three"))
