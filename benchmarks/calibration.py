"""How good probabilities are."""

import numpy as np
from numpy.typing import NDArray

from citeloop.retrieval.relevance_features import Matrix


def calibration_error(predicted: Matrix, happened: NDArray[np.bool_], weights: Matrix) -> float:
    """Expected calibration error over ten bins of equal width."""
    bins = np.minimum((predicted * 10).astype(int), 9)
    gap = np.bincount(bins, weights * (predicted - happened))
    return float(np.abs(gap).sum() / weights.sum())


def area_under_curve(predicted: Matrix, happened: NDArray[np.bool_]) -> float:
    """Probability that one that happened is rated above one that did not; ties count half."""
    yes, no = predicted[happened], np.sort(predicted[~happened])
    if not len(yes) or not len(no):
        return float("nan")
    below, up_to = np.searchsorted(no, yes, side="left"), np.searchsorted(no, yes, side="right")
    return float((below + up_to).mean() / 2 / len(no))
