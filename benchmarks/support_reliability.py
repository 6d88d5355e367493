"""Whether a support of 0.7 means 70%: the reliability plot, and what another base rate makes of it."""

from pathlib import Path

import numpy as np
from calibration import calibration_error
from numpy.typing import NDArray
from plots import plot

from citeloop.evaluation.bootstrap import Floats

BASE_RATES = (0.3, 0.5, 0.7)
BINS = 10


def shift_base_rate(predicted: Floats, old: float, new: float) -> Floats:
    """Probabilities calibrated where a share ``old`` of claims is supported, told for a share ``new`` (Bayes).

    Right where the claims of either class are alike in both places and only their shares differ (prior shift; Saerens
    et al. 2002).
    """
    yes, no = predicted * new / old, (1 - predicted) * (1 - new) / (1 - old)
    shifted: Floats = yes / (yes + no)
    return shifted


def errors_by_base_rate(
    predicted: Floats, happened: NDArray[np.bool_], trained_at: float
) -> dict[str, dict[str, float]]:
    """Calibration error where the classes are weighted to a base rate: of the score as it is, and shifted to it."""
    share = happened.mean()
    errors = {}
    for rate in BASE_RATES:
        weights = np.where(happened, rate / share, (1 - rate) / (1 - share))
        shifted = shift_base_rate(predicted, trained_at, rate)
        errors[str(rate)] = {
            "ece": round(calibration_error(predicted, happened, weights), 4),
            "ece_shifted": round(calibration_error(shifted, happened, weights), 4),
        }
    return errors


def draw_reliability(path: Path, predicted: Floats, happened: NDArray[np.bool_]) -> None:
    """Share supported against mean support, in ten bins of equal width; the area of a point is the bin's size."""
    bins = np.minimum((predicted * BINS).astype(int), BINS - 1)
    members = [bins == number for number in range(BINS)]
    members = [member for member in members if member.any()]
    means = [predicted[member].mean() for member in members]
    shares = [happened[member].mean() for member in members]
    sizes = [int(member.sum()) for member in members]
    error = calibration_error(predicted, happened, np.ones(len(predicted)))
    with plot(path, width=4.5, height=4.5) as axes:
        axes.plot([0, 1], [0, 1], linestyle=":", color="grey", label="calibrated")
        axes.plot(means, shares, color="tab:blue", linewidth=1)
        axes.scatter(means, shares, s=[2 * size for size in sizes], color="tab:blue", alpha=0.6)
        for mean, share, size in zip(means, shares, sizes, strict=True):
            axes.annotate(str(size), (mean, share), textcoords="offset points", xytext=(7, -9), fontsize=7)
        axes.set(
            xlim=(0, 1), ylim=(0, 1), xlabel="support score, mean of the bin", ylabel="share that people call supported"
        )
        axes.set_title(f"{len(predicted)} claims of other datasets, calibration error {error:.1%}", fontsize=9)
