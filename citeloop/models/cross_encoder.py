"""Cross-encoders of sentence-transformers: whether one is on this machine, and how it is loaded."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from citeloop.errors import WeightsNotFound

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


def is_at_hand(name: str) -> bool:
    """Whether library and weights are on this machine: a look at the disk, no import of torch, no network."""
    return find_spec("sentence_transformers") is not None and (Path(name).is_dir() or _is_cached(name))


def load_cross_encoder(name: str, what: str, *, downloads: bool) -> "CrossEncoder":
    """The model in the folder ``name``, or of that name; the hub is asked only with ``downloads``.

    Raises ``WeightsNotFound``, which calls the model ``what``; ImportError without the library.
    """
    from sentence_transformers import CrossEncoder

    try:
        return CrossEncoder(name, device="cpu", local_files_only=not downloads)
    except (OSError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise WeightsNotFound(
            f"cannot load the {what} {name} ({reason}); name a folder that holds it, or allow downloads"
        ) from error


def _is_cached(model_name: str) -> bool:
    from huggingface_hub import try_to_load_from_cache

    try:
        return isinstance(try_to_load_from_cache(model_name, "config.json"), str)
    except ValueError:  # no repository name: a folder that does not exist
        return False
