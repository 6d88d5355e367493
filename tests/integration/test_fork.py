"""A child forked from a process that has answered a question: whatever threads it lost are made anew."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, os, signal, sys
from citeloop import open_engine

def told(response):
    return {"answer": response.answer, "failures": response.trace["failures"]}

engine = open_engine(sys.argv[1])
answered = {"before": told(engine.query("How long is parental leave?", access_reason="parent"))}
read_end, write_end = os.pipe()
child = os.fork()
if child == 0:
    signal.alarm(60)  # a hang ends here
    response = engine.query("How much is paid back for meals a day?", access_reason="child")
    again = engine.graph.invoke({"question": "How long is parental leave?", "access_reason": "child"})
    os.write(write_end, json.dumps({**told(response), "again": again["answer"]}).encode())
    os._exit(0)
os.close(write_end)
with os.fdopen(read_end) as pipe:
    answered["child"] = json.loads(pipe.read() or "null")
answered["status"] = os.waitpid(child, 0)[1]
answered["after"] = told(engine.query("How long is a sabbatical?", access_reason="parent"))
report = engine.audit.verify()
answered["audit"] = [report.rows, report.intact, len(report.unfinished)]
print(json.dumps(answered))
"""


def test_a_forked_child_answers_and_so_does_its_parent(stores: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(stores)], capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stderr
    answered = json.loads(done.stdout)
    assert answered["status"] == 0, f"the child hung or died\n{done.stderr}"
    assert "16 weeks" in answered["before"]["answer"]
    assert "45 euros" in answered["child"]["answer"]
    assert "16 weeks" in answered["child"]["again"]
    assert "3 months" in answered["after"]["answer"]
    assert [answered[who]["failures"] for who in ("before", "child", "after")] == [[], [], []]
    assert answered["audit"] == [8, True, 0]
