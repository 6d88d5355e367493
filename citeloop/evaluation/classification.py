"""Statistics of a probability against a yes-or-no label."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from citeloop.evaluation.bootstrap import Floats, Statistic, Weights, divide

CALIBRATION_BINS = 10


@dataclass(frozen=True, slots=True)
class MacroF1(Statistic):
    """Mean of the F1 of both classes, ``scores >= threshold`` read as yes."""

    scores: Floats
    labels: Floats
    """1 or 0."""
    threshold: float = 0.5

    @property
    def observations(self) -> int:
        return len(self.labels)

    def __call__(self, weights: Weights) -> Floats:
        predicted = (self.scores >= self.threshold).astype(np.float64)
        return (_f1(weights, predicted, self.labels) + _f1(weights, 1 - predicted, 1 - self.labels)) / 2


@dataclass(frozen=True, slots=True)
class AreaUnderCurve(Statistic):
    """Area under the ROC curve: P(a yes scores over a no), ties counting half (Mann and Whitney 1947)."""

    scores: Floats
    labels: Floats

    @property
    def observations(self) -> int:
        return len(self.labels)

    def __call__(self, weights: Weights) -> Floats:
        order = np.argsort(self.scores, kind="stable")
        _, starts = np.unique(self.scores[order], return_index=True)  # first of each group of equal scores
        positives = np.add.reduceat((weights * self.labels)[:, order], starts, axis=1)
        negatives = np.add.reduceat((weights * (1 - self.labels))[:, order], starts, axis=1)
        beaten = np.cumsum(negatives, axis=1) - negatives / 2
        return divide((positives * beaten).sum(axis=1), positives.sum(axis=1) * negatives.sum(axis=1))


@dataclass(frozen=True, slots=True)
class CalibrationError(Statistic):
    """Expected calibration error over bins of equal width (Naeini et al. 2015); 0 is best."""

    leans: ClassVar[bool] = True

    scores: Floats
    labels: Floats

    @property
    def observations(self) -> int:
        return len(self.labels)

    def __call__(self, weights: Weights) -> Floats:
        bins = np.minimum((self.scores * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
        gaps = np.eye(CALIBRATION_BINS)[bins] * (self.scores - self.labels)[:, None]
        return divide(np.abs(weights @ gaps).sum(axis=1), weights.sum(axis=1))


def _f1(weights: Weights, predicted: Floats, actual: Floats) -> Floats:
    return divide(2 * (weights @ (predicted * actual)), weights @ (predicted + actual))
