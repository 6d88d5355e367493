"""Estimates with 95% bootstrap intervals.

A statistic is a function of weights: how often each observation was drawn. Weights of one give the value on the sample,
multinomial weights its bootstrap distribution (Efron 1979; percentile interval). All statistics of a set read the same
draws, as matrix products. ``scipy.stats.bootstrap`` would draw anew for each, and SciPy is large for one function.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

RESAMPLES = 1000
SEED = 20260115
CONFIDENCE = 0.95
_CELLS_AT_ONCE = 4_000_000

Floats: TypeAlias = NDArray[np.float64]
Weights: TypeAlias = Floats
"""Shape ``(draws, observations)``."""


class Statistic(ABC):
    """A figure computed from weighted observations."""

    leans: ClassVar[bool] = False
    """Whether resamples give larger values than the sample by nature, as a magnitude does that noise adds to."""

    @property
    @abstractmethod
    def observations(self) -> int:
        """How many observations bear on the figure."""

    @abstractmethod
    def __call__(self, weights: Weights) -> Floats:
        """The figure for each draw, shape ``(draws,)``; NaN where it is not defined."""


class Estimate(BaseModel):
    """A figure and its 95% interval."""

    model_config = ConfigDict(frozen=True)

    value: float
    low: float = Field(description="2.5th percentile of the bootstrap distribution.")
    high: float = Field(description="97.5th percentile.")
    n: int = Field(description="Observations that bear on the figure.")


@dataclass(frozen=True, slots=True)
class Ratio(Statistic):
    """Sum of ``numerators`` over sum of ``denominators``: means, shares, precision, recall, F1."""

    numerators: Floats
    denominators: Floats

    @property
    def observations(self) -> int:
        return int(np.count_nonzero(self.denominators))

    def __call__(self, weights: Weights) -> Floats:
        return divide(weights @ self.numerators, weights @ self.denominators)


@dataclass(frozen=True, slots=True)
class Quantile(Statistic):
    """The ``share`` quantile (linear interpolation, as ``numpy.quantile``) of ``values``; NaN are left out."""

    values: Floats
    share: float

    @property
    def observations(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.values)))

    def __call__(self, weights: Weights) -> Floats:
        order = np.argsort(self.values)[: self.observations]  # NaN sort last
        ordered = self.values[order]
        drawn = np.cumsum(weights[:, order], axis=1)
        total = drawn[:, -1]
        position = self.share * (total - 1)
        lower = np.floor(position)
        left = ordered[_draw_at(drawn, lower)]
        right = ordered[_draw_at(drawn, np.minimum(lower + 1, total - 1))]
        return np.where(total > 0, left + (right - left) * (position - lower), np.nan)


def estimate(statistics: Mapping[str, Statistic], sample_size: int) -> dict[str, Estimate | None]:
    """Each statistic on the sample with its interval; ``None`` where it is not defined. Deterministic."""
    defined = {name: statistic for name, statistic in statistics.items() if statistic.observations}
    values = {name: float(statistic(np.ones((1, sample_size)))[0]) for name, statistic in defined.items()}
    draws: dict[str, list[Floats]] = {name: [] for name in defined}
    for weights in _resample(sample_size):
        for name, statistic in defined.items():
            draws[name].append(statistic(weights))
    return {
        name: _interval(statistic, values[name], np.concatenate(draws[name])) if name in defined else None
        for name, statistic in statistics.items()
    }


def divide(numerators: Floats, denominators: Floats) -> Floats:
    """Quotients, NaN where the denominator is zero."""
    return np.divide(numerators, denominators, out=np.full_like(numerators, np.nan), where=denominators != 0)


def _resample(sample_size: int) -> Iterator[Weights]:
    random = np.random.default_rng(SEED)
    rows = max(1, min(RESAMPLES, _CELLS_AT_ONCE // max(1, sample_size)))
    for done in range(0, RESAMPLES, rows):
        count = min(rows, RESAMPLES - done)
        drawn = random.integers(0, sample_size, (count, sample_size))
        drawn += sample_size * np.arange(count)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=count * sample_size)
        yield counts.reshape(count, sample_size).astype(np.float64)


def _draw_at(drawn: Floats, position: Floats) -> NDArray[np.intp]:
    """Index of the observation that holds the draw numbered ``position`` (from 0) in each row of running totals."""
    index: NDArray[np.intp] = np.argmax(drawn > position[:, None], axis=1)
    return index


def _interval(statistic: Statistic, value: float, draws: Floats) -> Estimate | None:
    draws = draws[~np.isnan(draws)]
    if np.isnan(value) or not draws.size:
        return None
    if statistic.leans:  # without this, the interval of a small calibration error would lie beside it
        draws = np.maximum(draws - (draws.mean() - value), 0)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Estimate(value=value, low=float(low), high=float(high), n=statistic.observations)
