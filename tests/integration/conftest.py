"""What tests of the command line share: a runner in this process, and corpora to run it on."""

import logging
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from citeloop.cli import main
from citeloop.state.models import UserContext
from tests.command_line import Run
from tests.integration.knowledge_stack import open_stack, write_documents


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[Run]:
    monkeypatch.chdir(tmp_path)

    def run_main(home: Path, *arguments: str, **variables: str) -> "CompletedProcess[str]":
        for name, value in {"CITELOOP_HOME": str(home), **variables}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["citeloop", *arguments])
        capsys.readouterr()  # what was there before
        with pytest.raises(SystemExit) as ended:
            main()
        return CompletedProcess(arguments, int(ended.value.code or 0), *capsys.readouterr())

    yield run_main
    logging.getLogger("citeloop").setLevel(logging.NOTSET)


@pytest.fixture(scope="session")
def indexed_corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    write_documents(folder / "files", 2)
    stack = open_stack(folder / "home")
    for name in ("handbook", "Büro 1"):
        stack.indexer.index([folder / "files"], name, UserContext())
    stack.store.close()
    return folder / "home"


@pytest.fixture
def kept(indexed_corpora: Path, home: Path) -> Path:
    """A home with the corpora ``handbook`` and ``Büro 1``, indexed by the command line's user."""
    return Path(shutil.copytree(indexed_corpora, home))
