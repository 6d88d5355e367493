"""Statistics made of others, for ``citeloop.evaluation.bootstrap.estimate``."""

from dataclasses import dataclass

from citeloop.evaluation.bootstrap import Estimate, Floats, Statistic, Weights


@dataclass(frozen=True, slots=True)
class Difference(Statistic):
    """``one`` less ``other``, on the same draws."""

    one: Statistic
    other: Statistic

    @property
    def observations(self) -> int:
        return self.one.observations

    def __call__(self, weights: Weights) -> Floats:
        return self.one(weights) - self.other(weights)


@dataclass(frozen=True)
class Weighted(Statistic):
    """``of`` with each observation counted ``by`` so much: how it would be at another base rate."""

    of: Statistic
    by: Floats

    @property
    def observations(self) -> int:
        return self.of.observations

    @property
    def leans(self) -> bool:  # type: ignore[override]
        return self.of.leans

    def __call__(self, weights: Weights) -> Floats:
        return self.of(weights * self.by)


def told(figure: Estimate | None, digits: int = 3) -> str:
    """The figure with its interval."""
    if figure is None:
        return "-"
    return f"{figure.value:.{digits}f} ({figure.low:.{digits}f} - {figure.high:.{digits}f})"
