"""Three questions on one thread, with both kinds of checkpointers, under strict msgpack."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import json, sys, warnings
warnings.simplefilter("error")
from pathlib import Path
from langgraph.checkpoint.memory import InMemorySaver
from citeloop.engine import open_engine
from citeloop.graph.checkpoints import open_sqlite_checkpointer

home, kind = Path(sys.argv[1]), sys.argv[2]
saver = InMemorySaver() if kind == "memory" else open_sqlite_checkpointer(home / "threads.db")
graph = open_engine(home, checkpointer=saver).graph
thread = {"configurable": {"thread_id": "t1"}}
turns = [
    {"question": "Who signs contracts over 50,000 euros?", "access_reason": "first", "corpora": ["legal"]},
    {"question": "How long is parental leave?", "access_reason": "second"},
    {"question": "Which telescope photographed Saturn?", "access_reason": "third"},
]
for turn in turns:
    out = graph.invoke(turn, thread)
    values = graph.get_state(thread).values
    sizes = {key: len(json.dumps(value, default=str)) for key, value in values.items()}
    print(json.dumps({
        "answer": out["answer"], "status": out["response"]["status"], "request": values["request"],
        "messages": [message.text for message in values["messages"]], "bytes": sum(sizes.values()),
        "queries": [head["query"] for head in out["response"]["trace"]["queries"]], "keys": sorted(values),
        "rounds": [told["round"] for told in out["response"]["trace"]["rounds"]],
        "corpora": sorted({source["corpus"] for source in out["response"]["sources"]}),
    }))
"""


@pytest.fixture(params=["memory", "sqlite"])
def turns(request: pytest.FixtureRequest, stores: Path) -> list[dict]:  # type: ignore[type-arg]
    environment = {"LANGGRAPH_STRICT_MSGPACK": "true", "PYTHONPATH": str(Path.cwd()), "PATH": "/usr/bin"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(stores), request.param],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Blocked deserialization" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_turns_do_not_leak_into_each_other(turns: list[dict]) -> None:  # type: ignore[type-arg]
    first, second, third = turns
    assert first["corpora"] == ["legal"]
    assert (second["request"]["corpora"], second["request"]["access_reason"]) == (None, "second")
    assert "16 weeks" in second["answer"], "the first turn's corpus does not bind the second"
    assert set(second["queries"]) == {"How long is parental leave?"}
    assert (third["status"], third["corpora"]) == ("no_evidence", [])
    assert [told[0] for told in (turn["rounds"] for turn in turns)] == [0, 0, 0]


def test_the_conversation_grows_and_the_state_stays_small(turns: list[dict]) -> None:  # type: ignore[type-arg]
    assert [len(turn["messages"]) for turn in turns] == [2, 4, 6]
    assert turns[2]["messages"][-1] == turns[2]["answer"]
    assert all(turn["bytes"] < 64 * 1024 for turn in turns)


def test_inputs_are_gone_after_the_door(turns: list[dict]) -> None:  # type: ignore[type-arg]
    assert {"question", "access_reason", "corpora", "command"}.isdisjoint(turns[-1]["keys"])
