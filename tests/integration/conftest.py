"""The sample corpus, indexed once a test run; each test gets engines of its own over a copy of the stores."""

import shutil
from pathlib import Path

import pytest

from citeloop.engine import RAGQueryEngine
from citeloop.models.onnx_embedder import OnnxEmbedder
from tests.integration.handbook import engine_over, index_handbook


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
