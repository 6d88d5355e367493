"""The strategy ``graph``: what the question and its best hits name is found, however unlike the question it reads."""

from pathlib import Path
from typing import Any

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.retrieval.entity_walk import EntityWalker
from citeloop.state.config import RAGConfig
from citeloop.state.models import RAGResponse, UserContext
from tests.handbook import engine_over, guard, write_files

QUESTION = "In which year was the director of the film Amber Tide born?"
FILMS = {
    "amber.md": "# Amber Tide\n\nAmber Tide is a film of 1961. It was directed by Marta Quist for Nordlys Studio.\n",
    "nordlys.md": "# Nordlys Studio\n\nNordlys Studio stood in Vardholm and closed in 1970.\n",
    **{
        f"film{number}.md": f"# The Film {name}\n\nThe film {name} was made in the year 19{number}. Its director was "
        f"born in the year 19{number - 40}. It is a film about a director of films.\n"
        for number, name in enumerate(
            ("Ash Lane", "Birch Road", "Cold Mill", "Dry Well", "East Gate", "Far Hill", "Grey Barn", "High Moor",
             "Ice Yard", "Jade Pond"), start=50
        )
    },
}  # fmt: skip
PEOPLE = {"quist.md": "# Marta Quist\n\nMarta Quist (4 May 1922 to 1990) grew up beside a harbour in Vardholm.\n"}
SECRET = "4 May 1922"


@pytest.fixture(scope="module")
def film_home(tmp_path_factory: pytest.TempPathFactory, onnx_embedder: Any) -> Path:
    folder = tmp_path_factory.mktemp("films")
    engine = engine_over(folder / "home")
    for name, files in {"handbook": FILMS, "legal": PEOPLE}.items():
        engine.indexer.index([write_files(folder / name, files)], name, UserContext())
    engine.close()
    return folder / "home"


@pytest.fixture
def engine(film_home: Path) -> RAGQueryEngine:
    return engine_over(film_home)


def ask(engine: RAGQueryEngine, strategy: str = "graph", **settings: Any) -> RAGResponse:
    config = RAGConfig.model_validate(
        {"strategy": strategy, "default_top_k": 4, "max_correction_rounds": 0, **settings}
    )
    return engine.query(QUESTION, access_reason="t", config=config)


def titles(response: RAGResponse) -> list[str]:
    return [source.title for source in response.context_used.chunks]


def test_it_reaches_what_standard_does_not(engine: RAGQueryEngine) -> None:
    assert "Marta Quist" not in titles(ask(engine, "standard"))
    response = ask(engine)
    assert titles(response)[0] == "Amber Tide"
    assert "Marta Quist" in titles(response)
    assert response.strategy_used == "graph"
    assert "is not built yet" not in response.trace["analysis"]["reason"]


def test_the_trace_tells_which_entities_led_where(engine: RAGQueryEngine) -> None:
    response = ask(engine)
    quist = next(source.chunk_id for source in response.sources if source.title == "Marta Quist")
    assert quist in response.trace["entities"]["Marta Quist"]
    assert "Amber Tide" in response.trace["entities"]
    assert set(response.context_used.entities_traversed) == set(response.trace["entities"])
    [walked] = [row for row in response.trace["queries"] if row["method"] == "entities"]
    assert quist in [hit["chunk_id"] for hit in walked["ranked"]]
    assert ask(engine, "standard").context_used.entities_traversed == ()


def test_an_entity_that_no_document_is_about_leads_to_what_mentions_it(engine: RAGQueryEngine) -> None:
    config = RAGConfig(strategy="graph", max_correction_rounds=0, graph_hops=1)
    asked = engine.query("Where did Nordlys Studio stand?", access_reason="t", config=config)
    [quist] = [hit for hit in asked.trace["ranked_chunks"] if hit["document_uri"] == "quist.md"]
    assert quist["chunk_id"] in asked.trace["entities"]["Vardholm"]


def test_hubs_are_not_followed(engine: RAGQueryEngine) -> None:
    config = RAGConfig(strategy="graph", max_correction_rounds=0, graph_hops=1, graph_hub=2)
    asked = engine.query("Where did Nordlys Studio stand?", access_reason="t", config=config)
    assert "Vardholm" not in asked.trace["entities"]


def test_the_walk_stays_in_the_corpora_that_are_open_and_asked_for(film_home: Path) -> None:
    engine = guard(engine_over(film_home))
    config = RAGConfig(strategy="graph")
    denied = engine.query(QUESTION, access_reason="t", user_context=UserContext(user_id="bob"), config=config)
    ana = UserContext(user_id="ana")
    told = engine.query(QUESTION, access_reason="t", user_context=ana, corpus_ids=["handbook"], config=config)
    for response in (denied, told):
        assert SECRET not in response.model_dump_json()
        assert {source.corpus for source in response.sources} == {"handbook"}
    both = engine.query(QUESTION, access_reason="t", user_context=ana, config=config)
    assert "legal" in {source.corpus for source in both.sources}


def test_a_wider_round_walks_again(engine: RAGQueryEngine) -> None:
    config = RAGConfig(strategy="graph", max_correction_rounds=2, confidence_threshold=1.0)
    question = {"question": QUESTION, "access_reason": "t"}
    steps = engine.graph.stream(question, context=config, stream_mode="updates")
    walks = [step["walk_entities"]["candidates"] for step in steps if "walk_entities" in step]
    assert len(walks) == 2
    for candidates in walks:
        ids = [candidate["chunk_id"] for candidate in candidates]
        assert len(ids) == len(set(ids))


def test_a_walk_that_fails_leaves_what_was_found(engine: RAGQueryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(EntityWalker, "walk", fail)
    response = ask(engine)
    assert titles(response) == titles(ask(engine, "standard"))
    [failure] = response.trace["failures"]
    assert failure["error"] == "OSError: the disk is gone"


def test_without_reranking_the_merged_rank_decides(engine: RAGQueryEngine) -> None:
    assert "Marta Quist" in titles(ask(engine, enable_reranking=False))


def test_the_walk_is_bounded(engine: RAGQueryEngine) -> None:
    response = ask(engine, graph_max_chunks=1, graph_hops=1, graph_starts=1)
    [walked] = [row for row in response.trace["queries"] if row["method"] == "entities"]
    assert len(walked["ranked"]) == 1
