"""Names in a text and their canonical form."""

import time

import pytest

from citeloop.text.entity_names import canonical_name, find_names, is_telling, match_names, name_windows


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada Lovelace", "ADA LOVELACE"),
        ("Ada Lovelace's", "Ada Lovelace"),
        ("the Harbour Board", "Harbour Board"),
        ("Windfall (film)", "Windfall"),
        ("Windfall (1987 film)", "windfall"),
        ("J. R. Hartley", "J.R. Hartley"),
        ("J. R. Hartley", "JR Hartley"),
        ("Mary K. Osei", "Mary Osei"),
        ("Åse Brøgger-Nilsen", "Ase Brøgger Nilsen"),
        ("Café  Zürich", "cafe zurich"),
    ],
)
def test_spellings_of_a_name_meet(one: str, other: str) -> None:
    assert canonical_name(one) == canonical_name(other) != ""


@pytest.mark.parametrize(("one", "other"), [("Ada Lovelace", "Ada Byron"), ("Henry II", "Henry IV"), ("A1", "A2")])
def test_different_names_stay_apart(one: str, other: str) -> None:
    assert canonical_name(one) != canonical_name(other)


def test_what_stands_for_nothing() -> None:
    assert [form for form in ("", "of", "ab", "1984", "which", "ada", " ".join("abcdefghi")) if is_telling(form)] == [
        "ada"
    ]
    assert canonical_name("(1984)") == "1984"


def test_names_are_found_by_their_look() -> None:
    text = (
        'Marta Quist of the Bureau of Tides directed "a quiet coast" in 1961. Each **probation period** is set by '
        "the `TIDE_GAUGE` and the [travel desk](desk.md)."
    )
    forms = [name.form for name in find_names(text)]
    assert {"marta quist", "bureau", "tides", "quiet coast", "probation period"} <= set(forms)
    assert {"tide gauge", "travel desk"} <= set(forms)
    assert "coast" not in forms
    assert len(forms) == len(set(forms))
    for name in find_names(text):
        assert canonical_name(name.spelling) == name.form


def test_known_names_are_matched_longest_first_and_however_they_are_spelt() -> None:
    known = {"marta quist", "quist", "quiet coast", "tides"}
    found = match_names(name_windows("did marta quist make A Quiet Coast, by the Tides?", capitalised=False), known)
    assert [(name.form, name.spelling) for name in found] == [
        ("marta quist", "marta quist"),
        ("quiet coast", "Quiet Coast"),
        ("tides", "Tides"),
    ]


def test_where_names_are_capitalised_small_words_begin_none() -> None:
    windows = name_windows("The tides of Marta Quist", capitalised=True)
    assert [name.form for name in match_names(windows, {"tides", "marta quist"})] == ["marta quist"]


@pytest.mark.parametrize("bomb", ["A", "A ", "Aa-", "[a", '"a', "**a", "`", "(", "A.", "Aa of ", "'s", "É"])
def test_long_repeats_take_linear_time(bomb: str) -> None:
    text = bomb * (200_000 // len(bomb))
    started = time.process_time()
    find_names(text)
    canonical_name(text)
    assert time.process_time() - started < 5
