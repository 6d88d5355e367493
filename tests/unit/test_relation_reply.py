"""Relations in replies as chat models write them."""

import json

import pytest

from citeloop.text.relation_reply import MOST_OF_A_REPLY, Triple, read_triples

ONE = {"subject": "Amber Tide", "relation": "directed by", "object": "Marta Quist"}
TRIPLE = Triple("Amber Tide", "directed by", "Marta Quist")


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"relations": [ONE]}),
        json.dumps([ONE]),
        json.dumps(ONE),
        json.dumps({"result": {"relations": [ONE, ONE]}}),
        json.dumps([list(ONE.values())]),
        json.dumps(list(ONE.values())),
        f"Here are the relations:\n```json\n{json.dumps([ONE], indent=2)}\n```\nLet me know!",
        json.dumps({"head": "Amber Tide", "type": "DIRECTED_BY", "tail": "Marta Quist"}),
        json.dumps({"relations": [ONE, {"subject": "Amber Tide"}, {"subject": 1, "relation": [], "object": None}, 7]}),
        json.dumps({"relations": [ONE, {**ONE, "object": "Nordlys"}]})[:-30],
        "- Amber Tide | directed by | Marta Quist",
        "| Amber Tide | directed by | Marta Quist |",
        "1. Amber Tide -directed by-> Marta Quist",
        "Amber Tide --[DIRECTED_BY]--> Marta Quist",
        json.dumps({**ONE, "subject": " Amber\n Tide "}),
    ],
)
def test_one_relation_in_many_dresses(reply: str) -> None:
    assert read_triples(reply) == [TRIPLE]


def test_a_list_of_objects_is_a_relation_to_each() -> None:
    reply = json.dumps([{**ONE, "object": ["Marta Quist", "Otto Brandt", "Nordlys"]}])
    assert read_triples(reply) == [TRIPLE, TRIPLE._replace(object="Otto Brandt"), TRIPLE._replace(object="Nordlys")]


def test_the_escapes_of_the_prompt_are_undone() -> None:
    assert read_triples('{"subject": "AT&amp;T", "relation": "run by", "object": "O&#x27;Neil"}') == [
        Triple("AT&T", "run by", "O'Neil")
    ]


@pytest.mark.parametrize("reply", ['{"relations": []}', "[]", "{}", "```json\n[]\n```", "None.", "No relations found."])
def test_a_reply_may_say_that_there_are_none(reply: str) -> None:
    assert read_triples(reply) == []


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I'm sorry, I cannot do that.",
        '{"relations": [',
        '{"error": "overloaded"}',
        '{"relations": "many"}',
        "{" * 20,
        json.dumps({**ONE, "relation": "word " * 20}),
        json.dumps({**ONE, "subject": "x" * 200}),
    ],
)
def test_what_cannot_be_read_is_told_from_none(reply: str) -> None:
    assert read_triples(reply) is None


@pytest.mark.parametrize("unit", ["{", '{"a":', "[", "-", "|", '["a","b","c"],', "a -b-> ", "x | y | "])
def test_hostile_replies_end(unit: str) -> None:
    found = read_triples(unit * (200_000 // len(unit)))
    assert found is None or len(found) <= MOST_OF_A_REPLY


def test_no_more_than_a_reply_may_hold() -> None:
    many = [{**ONE, "object": f"Name {number}"} for number in range(500)]
    assert len(read_triples(json.dumps(many)) or ()) == MOST_OF_A_REPLY
