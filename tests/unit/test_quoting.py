"""What of a page can be quoted, and which of it makes the answer."""

import numpy as np
import pytest

from citeloop.models.quotable import Quotable, cut_quotables
from citeloop.models.quoting import Place, choose_places, plan_for, reading_order

FACT, PROCEDURE = plan_for("Who lights it?"), plan_for("How do I light it?")
LIST = """The lamp takes:

- `oil` - The kind of oil. Rape by default.
- `wick`:
    - How long it is.
    - What it is made of.
- `glass` - Its colour.

Then it is lit."""


def quotes(text: str) -> list[str]:
    return [quotable.quote for quotable in cut_quotables(text)]


def chosen(text: str, best: str, question: str = "Who lights it?") -> list[str]:
    """The quotes that come with the sentence ``best``, in the order of the answer."""
    passage = cut_quotables(text)
    (index,) = (index for index, quotable in enumerate(passage) if quotable.quote.startswith(best))
    scores = np.where(np.arange(len(passage)) == index, 9.0, 0.0)
    plan = plan_for(question)
    places = choose_places([passage], [scores], plan)
    return [passage[place.sentence].quote for place in reading_order([passage], places, plan)]


def test_what_is_no_prose_is_not_quotable() -> None:
    markup = "# Heading\n\n/// note\n\n{* ../../docs/a.py *}\n\n<!-- hidden text -->\n\n---\n\n**Bold heading**\n\n"
    links = "[a]: https://lamp.example/some/words\n\n"
    assert quotes(markup + links + "* [ ] An item here\n\nPlain text [12] ends.") == [
        "An item here",
        "Plain text ends.",
    ]


def test_a_quote_is_word_for_word() -> None:
    prose = "In 1871 (not in 1870) the set {x | x > 1} had #1 - the first) of 2. Kinds."
    assert quotes(prose)[0] == "In 1871 (not in 1870) the set {x | x > 1} had #1 - the first) of 2."


def test_the_head_and_the_rule_of_a_table_are_not_quotable() -> None:
    assert quotes("| Kind of oil | Burning time |\n| :-- | --: |\n| Rape oil | 9 h |") == ["Rape oil · 9 h"]
    bare = "Kind of oil | Burning time\n--- | ---\nRape oil | nine hours\n[Whale oil](w) | [eight hours](e)"
    assert quotes(bare) == ["Rape oil · nine hours"]


def test_code_that_the_cut_of_the_passage_opened_is_not_quotable() -> None:
    assert quotes("lamp = Lamp()\nlamp.light up now\n```\n\nThen it burns.") == ["Then it burns."]
    assert quotes("Light it up:\n\n```\nlamp.light up now\n") == ["Light it up:"]


@pytest.mark.parametrize(
    "text",
    ["- [Lamp care](care.md)", "[Next page](b.md) | [Last page](a.md)", "![Lamp care](c.png)", "Is the lamp lit?"],
)
def test_links_alone_and_questions_do_not_stand_alone(text: str) -> None:
    assert not any(quotable.stands_alone for quotable in cut_quotables(text))


def test_a_list_hangs_from_its_lead_in_and_a_nested_one_from_its_item() -> None:
    passage = cut_quotables(LIST)
    assert [quotable.lead_in for quotable in passage] == [None, 0, 0, 0, 3, 3, 0, None]
    assert [quotable.continues for quotable in passage] == [False, False, True, *[False] * 5]


def test_a_lead_in_brings_its_whole_list_and_an_item_only_its_own() -> None:
    assert len(chosen(LIST, "The lamp takes")) == 7
    assert chosen(LIST, "`wick`") == ["`wick`:", "How long it is.", "What it is made of."]


def test_an_item_is_quoted_whole_and_a_nested_one_under_its_item() -> None:
    assert chosen(LIST, "Rape by default") == ["`oil` - The kind of oil.", "Rape by default."]
    assert chosen(LIST, "What it is made of") == ["`wick`:", "What it is made of."]


def test_links_are_quoted_with_what_leads_them_in() -> None:
    assert chosen("Read more here:\n\n- [Lamps](a.md)\n- [Lamp oils](b.md)", "Read") == ["Read more here:", "Lamp oils"]


def test_a_lead_in_without_its_sequel_must_name_something_in_code() -> None:
    assert chosen("Light it with `lamp.light()`:\n\n{* lamp.py *}", "Light") == ["Light it with `lamp.light()`:"]
    (score,) = cut_quotables("Light it like this:\n\n{* lamp.py *}")
    assert not score.stands_alone


def test_a_sentence_that_continues_another_follows_it_and_the_best_stays_first() -> None:
    passages = [[Quotable(f"Sentence {n}.", False) for n in range(3)]] * 2
    best, other, continued, before = Place(0, 1), Place(1, 0), Place(0, 2), Place(0, 0)
    assert reading_order(passages, [best, other, continued, before], FACT) == [best, continued, other, before]
    assert reading_order(passages, [best, other, continued, before], PROCEDURE) == [before, best, continued, other]


def test_items_stand_in_their_order_and_rows_by_relevance() -> None:
    items = [[Quotable(f"- Item {n}.", True) for n in range(3)]]
    rows = [[Quotable(f"| Row {n} | says it |", True) for n in range(3)]]
    places = [Place(0, 2), Place(0, 0)]
    assert reading_order(items, places, FACT) == [Place(0, 0), Place(0, 2)]
    assert reading_order(rows, places, FACT) == places


def test_short_answers_stop_early_and_lists_may_go_on() -> None:
    passage = [Quotable(f"Sentence number {n} says w{n} x{n} y{n} z{n}.", False) for n in range(12)]
    assert choose_places([passage], [np.array([9.0, *[0.0] * 11])], FACT) == [Place(0, 0)]
    assert len(choose_places([passage], [np.zeros(12)], FACT)) == 3
    assert len(choose_places([passage], [np.zeros(12)], PROCEDURE)) == 6
    assert choose_places([passage], [np.full(12, -np.inf)], FACT) == []
    assert choose_places([], [], FACT) == []
