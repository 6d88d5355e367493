"""The strategy ``graph`` along relations: what only they connect is found, within the rights and bounds of the walk."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.retrieval.entity_walk import EntityWalker, WalkBounds
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse, UserContext
from tests.handbook import engine_over, guard, write_files
from tests.openai_stub import OpenAIStub
from tests.relation_reading import read_relations

BORN = "In which year was the director of Amber Tide born?"
TAUGHT = "Who taught the director of Amber Tide?"
DIRECTED, TAUGHT_BY = "Amber Tide -directed by-> Marta Quist", "Marta Quist -taught by-> Otto Brandt"
FILMS = {
    f"film{number}.md": f"# The Film {name}\n\nThe film {name} was compared with Amber Tide. Its director was born in "
    f"the year 19{number}, and was taught by another director. Amber Tide is a film that a director was born for.\n"
    for number, name in enumerate(
        ("Ash Lane", "Birch Road", "Cold Mill", "Dry Well", "East Gate", "Far Hill", "Grey Barn", "High Moor",
         "Ice Yard", "Jade Pond", "Kite Row", "Low Fen"), start=10
    )
}  # fmt: skip
LEDGER = {
    "ledger.md": "# Harbour dues\n\nDues of the week: rope, tar, two anchors, salt. "
    "Paid in cash, and late. Amber Tide was directed by Marta Quist, who owes for the berth. Amber Tide was stored in "
    "Shed Nine. Coal is out; ask again on Monday, when the harbour master is back with the keys.\n",
    "ledger2.md": "# Dues of the pilots\n\nPilots pay by the month. Marta Quist was taught by Otto Brandt to row, and "
    "pays for his lamp oil. Lamp oil is dearer than last year; rope is not.\n",
    "shed.md": "# Shed Nine\n\nShed Nine leaks.\n",
}
PEOPLE = {
    "quist.md": "# Marta Quist\n\nMarta Quist (4 May 1922 to 1990) grew up beside a lighthouse.\n",
    "brandt.md": "# Otto Brandt\n\nOtto Brandt (1890 to 1951) kept bees.\n",
}


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory, onnx_embedder: Any) -> Path:
    """``plain``, where no relations were read; ``read``; ``split``, where the ledger is the corpus ``legal``."""
    folder = tmp_path_factory.mktemp("relations")
    layouts = {
        "plain": {"handbook": FILMS | LEDGER, "legal": PEOPLE},
        "read": {"handbook": FILMS | LEDGER, "legal": PEOPLE},
        "split": {"handbook": FILMS | PEOPLE, "legal": LEDGER},
    }
    for home, corpora in layouts.items():
        engine = engine_over(folder / home)
        for name, files in corpora.items():
            engine.indexer.index([write_files(folder / f"{home}-{name}", files)], name, UserContext())
        if home != "plain":
            with OpenAIStub() as stub:
                read_relations(engine, stub, *corpora)
        engine.close()
    return folder


def ask(engine: RAGQueryEngine, question: str = BORN, **options: Any) -> RAGResponse:
    settings = {"strategy": "graph", "max_correction_rounds": 0, **options.pop("settings", {})}
    return engine.query(question, access_reason="t", config=RAGConfig.model_validate(settings), **options)


def titles(response: RAGResponse) -> list[str]:
    return [source.title for source in response.context_used.chunks]


def test_what_only_a_relation_leads_to_is_found(homes: Path) -> None:
    assert "Marta Quist" not in titles(ask(engine_over(homes / "plain")))
    response = ask(engine_over(homes / "read"))
    assert "Marta Quist" in titles(response)
    [quist] = [source.chunk_id for source in response.context_used.chunks if source.title == "Marta Quist"]
    assert quist in response.trace["relations"][DIRECTED]
    assert "Marta Quist" in response.context_used.entities_traversed


def test_relations_are_followed_one_after_the_other(homes: Path) -> None:
    assert "Otto Brandt" not in titles(ask(engine_over(homes / "plain"), TAUGHT))
    engine = engine_over(homes / "read")
    response = ask(engine, TAUGHT)
    assert "Otto Brandt" in titles(response)
    assert {DIRECTED, TAUGHT_BY} <= response.trace["relations"].keys()
    one_hop = ask(engine, TAUGHT, settings={"graph_hops": 1})
    assert TAUGHT_BY not in one_hop.trace["relations"]


def test_relations_that_the_question_asks_for_come_first(homes: Path) -> None:
    engine = engine_over(homes / "read")
    walker = EntityWalker(engine.store, engine.embedder)

    def first(question: str, hub: int = 200) -> list[str]:
        walk = walker.walk(question, [], None, UserContext(), WalkBounds(hops=1, starts=1, hub=hub, most=9))
        return [walk.relations[chunk_id][0] for chunk_id in walk.reached if chunk_id in walk.relations]

    stored = "Amber Tide -stored in-> Shed Nine"
    about = first("Who is the director of Amber Tide?")
    assert about[0] == DIRECTED
    assert stored in about
    assert first("Where is Amber Tide kept in store?")[0] == stored


def test_of_a_hub_only_what_is_asked_for_is_followed(homes: Path) -> None:
    response = ask(engine_over(homes / "read"), settings={"graph_hub": 2, "graph_hops": 1})
    assert DIRECTED in response.trace["relations"]
    assert "Amber Tide -stored in-> Shed Nine" not in response.trace["relations"]


def test_the_walk_stays_in_the_corpora_that_are_open_and_asked_for(homes: Path) -> None:
    bob, ana = UserContext(user_id="bob"), UserContext(user_id="ana")
    pages = guard(engine_over(homes / "read"))
    for response in (ask(pages, user_context=bob), ask(pages, user_context=ana, corpus_ids=["handbook"])):
        assert "4 May 1922" not in response.model_dump_json(), "the far end is another's"
        assert {source.corpus for source in response.context_used.chunks} == {"handbook"}
    ledger = guard(engine_over(homes / "split"))
    for response in (ask(ledger, user_context=bob), ask(ledger, user_context=ana, corpus_ids=["handbook"])):
        assert "Marta Quist" not in response.model_dump_json(), "the relation is another's"
    assert DIRECTED in ask(ledger, user_context=ana).trace["relations"]


def test_the_walk_is_bounded(homes: Path) -> None:
    response = ask(engine_over(homes / "read"), settings={"graph_max_chunks": 1, "graph_starts": 1})
    [walked] = [row for row in response.trace["queries"] if row["method"] == "entities"]
    assert len(walked["ranked"]) == 1


def test_where_no_relations_were_read_nothing_is_asked_but_whether(
    homes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executed: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(executed.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    response = ask(engine_over(homes / "plain"))
    assert "relations" not in response.trace
    about_relations = [statement for statement in executed if "relations" in statement]
    assert len(about_relations) == len(("handbook", "legal"))
    assert all("LIMIT 1" in statement for statement in about_relations)
