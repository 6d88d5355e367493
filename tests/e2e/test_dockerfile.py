"""``langgraph dockerfile``: what a shell and Docker read of it is what was meant."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
CONFIG = json.loads((REPOSITORY / "langgraph.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def dockerfile(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("image")
    (folder / "langgraph.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (folder / "pyproject.toml").write_bytes((REPOSITORY / "pyproject.toml").read_bytes())
    (folder / ".env").touch()
    program = Path(sys.executable).with_name("langgraph")
    subprocess.run([program, "dockerfile", "Dockerfile"], cwd=folder, check=True, capture_output=True, timeout=60)
    return (folder / "Dockerfile").read_text("utf-8")


def test_the_packages_are_installed_as_they_are_named(dockerfile: str) -> None:
    """Neither quoted nor escaped by the tool: a ``>=`` would be a redirection."""
    wanted = [name for name in CONFIG["dependencies"] if name != "."]
    [line] = [line for line in dockerfile.splitlines() if line.startswith("RUN ") and wanted[0] in line]
    words = list(shlex.shlex(line, posix=True, punctuation_chars="<>|&;()"))
    assert not {"<", ">", ">=", "|", "&", ";"} & set(words)
    assert shlex.split(line)[-len(wanted) :] == wanted


def test_the_settings_survive_their_quotes(dockerfile: str) -> None:
    read = dict(re.findall(r"^ENV (\w+)='(.*)'$", dockerfile, re.MULTILINE))
    assert not any("'" in value for value in read.values()), "an apostrophe would end the value"
    assert json.loads(read["LANGSERVE_GRAPHS"]) == CONFIG["graphs"]
    assert json.loads(read["LANGGRAPH_AUTH"]) == CONFIG["auth"]
    assert json.loads(read["LANGGRAPH_HTTP"]) == CONFIG["http"]


def test_the_image_has_the_python_that_is_named(dockerfile: str) -> None:
    assert dockerfile.startswith(f"FROM langchain/langgraph-api:{CONFIG['python_version']}")
