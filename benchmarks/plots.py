"""Plots for ``evals/``: one look, and files that change only when what they show does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot
from matplotlib.axes import Axes

_LOOK = {
    "svg.fonttype": "none",
    "svg.hashsalt": "citeloop",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
}


@contextmanager
def plot(path: Path, *, width: float = 6.0, height: float = 4.0) -> Iterator[Axes]:
    """Axes to draw on, ``width`` by ``height`` inches; written to ``path`` as SVG when the block ends well."""
    with matplotlib.rc_context(_LOOK):
        figure, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
        try:
            yield axes
            figure.savefig(path, format="svg", metadata={"Date": None})
        finally:
            pyplot.close(figure)
