"""Which relations of a reply are kept: those between two entities that the chunk names."""

import pytest

from citeloop.knowledge.relation_writer import UnreadChunk, standing_relations
from citeloop.text.relation_reply import Triple

CHUNK = UnreadChunk(
    row=1,
    id="c1",
    title="Amber Tide (film)",
    heading_path=("Amber Tide (film)", "The making"),
    text="It was directed by Marta Quist for O'Neil & Sons; J. R. R. Holm wrote it. Das Büro lag in Århus. "
    "東京都は首都です。",
)


def kept(*triples: tuple[str, str, str]) -> list[tuple[str, str, str]]:
    return [
        (one.subject.form, one.relation, one.object.form)
        for one in standing_relations(CHUNK, [Triple(*triple) for triple in triples])
    ]


@pytest.mark.parametrize(
    ("subject", "target", "forms"),
    [
        ("Amber Tide", "Marta Quist", ("amber tide", "marta quist")),
        ("the Amber Tide (film)", "MARTA QUIST", ("amber tide", "marta quist")),
        ("J.R.R. Holm", "O'Neil & Sons", ("jrr holm", "o neil sons")),
        ("Das Büro", "Aarhus", None),
        ("Das Buro", "Århus", ("das buro", "arhus")),
        ("東京都", "Marta Quist", ("東京都", "marta quist")),
        ("大阪", "Marta Quist", None),
        ("Marta Quistova", "Amber Tide", None),
        ("Quist", "The Making", ("quist", "making")),
        ("Evil Corp", "Marta Quist", None),
        ("It", "Marta Quist", None),
        ("Marta Quist", "Marta Quist's", None),
        ("Marta\u2028Quist", "Amber Tide", None),
    ],
)
def test_both_ends_stand_in_the_chunk(subject: str, target: str, forms: tuple[str, str] | None) -> None:
    expected = [(forms[0], "of", forms[1])] if forms else []
    assert kept((subject, "of", target)) == expected
    assert kept((target, "of", subject)) == [(o, r, s) for s, r, o in expected]


def test_the_same_in_two_spellings_is_kept_once() -> None:
    twice = ("Amber Tide", "directed by", "Marta Quist"), ("the amber tide", "directed by", "Marta Quist")
    assert kept(*twice) == [("amber tide", "directed by", "marta quist")]
