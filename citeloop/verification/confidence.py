"""How far an answer as a whole can be trusted."""

import math
from collections.abc import Sequence


def claim_support(together: float, citations: Sequence[float], min_citations: int) -> float:
    """Support of a claim that needs ``min_citations`` citations.

    ``together`` is its support by all its sources at once, ``citations`` the support by each of them. With fewer
    citations than needed it counts as unsupported; with several needed, the weakest needed one bounds it.
    """
    if len(citations) < min_citations:
        return 0.0
    weakest_needed = sorted(citations, reverse=True)[min_citations - 1] if min_citations > 1 else 1.0
    return min(together, weakest_needed)


def all_supported(claim_supports: Sequence[float]) -> float:
    """Probability that every claim is supported; at least one claim.

    The product would be right for independent claims, the smallest for claims that stand and fall together. Those of
    one answer are in between: the geometric mean of the two predicts best (measured in benchmarks/train_support.py).
    """
    return math.sqrt(math.prod(claim_supports) * min(claim_supports))


def response_confidence(claim_supports: Sequence[float], relevance: float) -> float:
    """Probability that every claim is supported by its citations and that the answer answers the question.

    ``relevance`` is the calibrated probability of the latter, given what the answer says. An answer without a claim
    has confidence 0. A refusal is a class of its own and has no place here.
    """
    return all_supported(claim_supports) * relevance if claim_supports else 0.0


def invalid_share(citation_supports: Sequence[float], unknown: int, threshold: float) -> float:
    """Share of an answer's citations that are invalid: under ``threshold``, or among the ``unknown`` ones that lead to
    no source. 0 when there is no citation at all."""
    total = len(citation_supports) + unknown
    invalid = unknown + sum(support < threshold for support in citation_supports)
    return invalid / total if total else 0.0
