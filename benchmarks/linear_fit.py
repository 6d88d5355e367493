"""Fitting the linear models that the package ships as JSON."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from citeloop.retrieval.relevance import LinearModel, probability
from citeloop.retrieval.relevance_features import Matrix

Columns = Mapping[str, Matrix]
Loss = Callable[[Matrix], tuple[float, Matrix]]
"""Logits of all rows to the mean loss and its gradient."""


def listwise(right: Matrix, starts: NDArray[np.intp], weights: Matrix) -> Loss:
    """Softmax over each group of rows, from ``starts`` on: the mass should fall on the rows that are right."""
    sizes = np.diff(np.append(starts, len(right)))

    def loss(logits: Matrix) -> tuple[float, Matrix]:
        mass = np.exp(logits - np.repeat(np.maximum.reduceat(logits, starts), sizes))
        share = mass / np.repeat(np.add.reduceat(mass, starts), sizes)
        held = np.add.reduceat(share * right, starts)
        pull = share - share * right / np.repeat(held, sizes)
        return -float(weights @ np.log(held)) / weights.sum(), np.repeat(weights, sizes) * pull / weights.sum()

    return loss


def logistic(labels: Matrix, weights: Matrix) -> Loss:
    """Weighted log loss of independent rows."""
    shares = weights / weights.sum()

    def loss(logits: Matrix) -> tuple[float, Matrix]:
        value = float(shares @ (np.logaddexp(0.0, logits) - labels * logits))
        return value, shares * (probability(logits) - labels)

    return loss


def fit_linear(columns: Sequence[Columns], loss: Loss, penalty: float) -> LinearModel:
    """Least regularised loss over standardised columns, told in terms of the columns as they are."""
    names = list(columns[0])
    rows = np.vstack([np.stack([table[name] for name in names], axis=1) for table in columns])
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = np.column_stack([np.ones(len(rows)), (rows - mean) / scale])
    penalties = np.array([0.0] + [penalty] * len(names))

    def regularised(weights: Matrix) -> tuple[float, Matrix]:
        value, gradient = loss(scaled @ weights)
        return value + float(penalties @ weights**2), scaled.T @ gradient + 2 * penalties * weights

    best = minimize(regularised, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B").x
    plain = best[1:] / scale
    told = {name: round(float(weight), 5) for name, weight in zip(names, plain, strict=True)}
    return LinearModel(round(float(best[0] - plain @ mean), 5), told)
