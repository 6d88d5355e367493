"""What a further hop asks, and what its passages are worth."""

from citeloop.knowledge.corpus import Chunk
from citeloop.retrieval.follow_ups import (
    RankedChunk,
    follow_up_of_model,
    follow_up_score,
    open_words,
    write_follow_ups,
)
from citeloop.state.graph_state import Query

QUESTION = "In which country was the woman who founded Orrery Press born?"


def page(title: str, text: str) -> Chunk:
    return Chunk(title, "c", title, "s", 0, title, title, (), text, 0, len(text))


def ranked(chunk: Chunk, score: float) -> RankedChunk:
    return RankedChunk(chunk, tuple(f"{part}." for part in chunk.text.split(".") if part.strip()), score)


PRESS = page(
    "Orrery Press", "Orrery Press was founded by Ilse Varga. It printed maps for Captain Holt. It closed in March 1901."
)
OTHER = page("Lantern Books", "Lantern Books was founded by Tom Reed.")


def asked_for(*passages: RankedChunk, asked: tuple[str, ...] = (), most: int = 6) -> list[Query]:
    good = [passage.chunk for passage in passages if passage.score >= 0.7]
    return write_follow_ups(QUESTION, passages, good, asked, most)


def test_open_is_what_no_passage_holds() -> None:
    assert open_words(QUESTION, [PRESS]) == ["country", "woman", "born"]
    assert open_words("Who founded Orrery Press?", [PRESS]) == []
    assert open_words(QUESTION, []) == ["country", "woman", "founded", "orrery", "press", "born"]


def test_the_name_beside_what_was_asked_leads_on_with_the_open_words() -> None:
    first, *rest = asked_for(ranked(PRESS, 0.9))
    assert (first["text"], first["about"], first["strength"]) == ("Ilse Varga country woman born", "Ilse Varga", 0.9)
    assert [query["about"] for query in rest] == ["Captain Holt"], "neither the date nor the name in the question"
    assert rest[0]["strength"] < first["strength"]


def test_a_bridge_is_trusted_as_far_as_its_passage() -> None:
    queries = asked_for(ranked(PRESS, 0.9), ranked(OTHER, 0.1))
    strengths = {query["about"]: query["strength"] for query in queries}
    assert strengths["Tom Reed"] == 0.1
    assert next(iter(strengths)) == "Ilse Varga"


def test_names_of_the_question_that_no_good_passage_tells_of_come_first() -> None:
    assert asked_for(ranked(OTHER, 0.9))[0]["text"] == "Orrery Press"
    assert "Orrery Press" not in [query["about"] for query in asked_for(ranked(PRESS, 0.9))]
    assert asked_for()[0]["about"] == "Orrery Press"


def test_nothing_is_asked_about_twice_or_beyond_the_limit() -> None:
    assert [query["about"] for query in asked_for(ranked(PRESS, 0.9), asked=("ilse varga",))] == ["Captain Holt"]
    assert len(asked_for(ranked(PRESS, 0.9), most=1)) == 1
    assert asked_for(ranked(PRESS, 0.9), asked=("Ilse Varga", "Captain Holt")) == []


def test_a_page_of_the_name_is_worth_more_than_one_that_mentions_it() -> None:
    query = asked_for(ranked(PRESS, 0.9))[0]
    her_page = page("Ilse Varga (publisher)", "She was born in Hungary.")
    mention = page("Publishers", "Ilse Varga and others.")
    worth = [follow_up_score(query, chunk, 1.0) for chunk in (her_page, mention, OTHER)]
    assert worth == sorted(worth, reverse=True)
    assert len(set(worth)) == 3
    assert worth[0] < 0.9, "a step further is trusted less than what led there"


def test_a_query_of_a_model_gets_the_bridge_that_it_names() -> None:
    found = [ranked(PRESS, 0.6)]
    named = follow_up_of_model("birthplace of Ilse Varga", QUESTION, found)
    assert (named["about"], named["strength"]) == ("Ilse Varga", 0.6)
    free = follow_up_of_model("founders of small presses", QUESTION, found)
    assert (free["about"], free["strength"]) == ("", 1.0)


def test_a_script_without_capitals_is_led_on_by_titles() -> None:
    japanese = page("東京", "東京は日本の首都である。")
    queries = write_follow_ups("日本の首都は?", [RankedChunk(japanese, (japanese.text,), 0.9)], [japanese], [], 6)
    assert [query["about"] for query in queries] == ["東京"]
