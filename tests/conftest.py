"""What every test gets: no network but loopback, a clean environment, and the shared fixtures."""

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.models.weights import MINILM_ONNX
from citeloop.settings import Settings
from tests.handbook import engine_over, index_handbook
from tests.openai_stub import OpenAIStub

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_FOREIGN_VARIABLES = ("CITELOOP_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")


@pytest.fixture(scope="session", autouse=True)
def no_network() -> Iterator[None]:
    """Connections leave this machine in no test: a model call over the network fails at once."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _loopback_only(getattr(socket.socket, name)))
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


def _loopback_only(connect):
    def guarded(self: socket.socket, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in _LOOPBACK:
            raise AssertionError(f"a test tried to reach {address[0]}")
        return connect(self, address)

    return guarded


@pytest.fixture(scope="session", autouse=True)
def clean_environment() -> Iterator[None]:
    """Neither the developer's keys and settings nor a ``.env`` have a say, also in the fixtures that tests share."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(_FOREIGN_VARIABLES)]:
            patch.delenv(name)
        patch.setitem(Settings.model_config, "env_file", None)
        yield


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home folder."""
    return tmp_path / "home"


@pytest.fixture(scope="session")
def onnx_embedder() -> OnnxEmbedder:
    """The real embedding model."""
    if MINILM_ONNX.locate() is None:
        pytest.skip(f"no ONNX weights on this machine: {MINILM_ONNX.install}")
    return OnnxEmbedder(threads=1)


@pytest.fixture
def openai_stub() -> Iterator[OpenAIStub]:
    """A local OpenAI-compatible server."""
    with OpenAIStub() as stub:
        yield stub


@pytest.fixture(scope="session")
def indexed_home(tmp_path_factory: pytest.TempPathFactory, onnx_embedder: OnnxEmbedder) -> Path:
    return index_handbook(tmp_path_factory.mktemp("handbook"))


@pytest.fixture
def stores(indexed_home: Path, tmp_path: Path) -> Path:
    """A home folder of this test's own, indexed."""
    return Path(shutil.copytree(indexed_home, tmp_path / "stores"))


@pytest.fixture
def engine(stores: Path) -> RAGQueryEngine:
    """The engine with the extractive model."""
    return engine_over(stores)
