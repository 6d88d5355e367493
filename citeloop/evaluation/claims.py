"""Measuring the support score on claims with human labels."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from citeloop.evaluation.bootstrap import Estimate, estimate
from citeloop.evaluation.classification import AreaUnderCurve, CalibrationError, MacroF1
from citeloop.evaluation.sets import LabelledClaim

ScoreClaim: TypeAlias = Callable[[str, str], float]
"""``(claim, source)`` to the probability that the source supports the claim."""


def score_claims(
    claims: Sequence[LabelledClaim], score: ScoreClaim, on_done: Callable[[], None] = lambda: None
) -> list[float]:
    """The support of each claim, in order."""
    scores = []
    for claim in claims:
        scores.append(score(claim.claim, claim.source))
        on_done()
    return scores


def measure_support(claims: Sequence[LabelledClaim], scores: Sequence[float]) -> dict[str, Estimate | None]:
    """``support_macro_f1`` (yes from 0.5 on), ``support_auc`` and ``support_ece`` (10 bins) with their intervals."""
    predicted = np.array(scores, dtype=np.float64)
    labels = np.array([claim.supported for claim in claims], dtype=np.float64)
    return estimate(
        {
            "support_macro_f1": MacroF1(predicted, labels),
            "support_auc": AreaUnderCurve(predicted, labels),
            "support_ece": CalibrationError(predicted, labels),
        },
        len(claims),
    )
