"""Support by a judge, where the offline scorer has compared and not found a quote."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from citeloop.models.claim_judges import ClaimJudge, JudgedClaim, Judgement
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.evidence.support import CONTRADICTED_SUPPORT, ClaimEvidence, ClaimScorer, Support

_SAYS_OTHERWISE = "says otherwise, as the judge reads it"
_LEFT_OUT = "left out of the judge's reply"

_log = logging.getLogger(__name__)


class JudgedScorer:
    """``inner`` first; what it found no quote for goes to ``judge`` in one batch. Blocking; thread-safe.

    The judge's verdict replaces score and conflict; the place and what is missing stay those of ``inner``. Where the
    judge fails, all of it does, and ``judge_failure`` tells why.
    """

    def __init__(self, inner: ClaimScorer, judge: ClaimJudge) -> None:
        self._inner, self._judge = inner, judge

    def score_batch(self, pairs: Sequence[ClaimEvidence]) -> list[Support]:
        """Support of each pair, in order. Raises only what ``inner`` raises."""
        supports = self._inner.score_batch(pairs)
        rows = [row for row, support in enumerate(supports) if support.method not in ("quote", "none")]
        if not rows:
            return supports
        claims = [_as_judged(pairs[row]) for row in rows]
        try:
            judged = list(zip(rows, self._judge.judge(claims), strict=True))
        except Exception as error:
            _log.warning("the judge of claims dropped out: %s", error)
            told = f"{getattr(error, 'code', type(error).__name__)}: {error}"
            judged_out = {row: replace(supports[row], judge_failure=told) for row in rows}
            return [judged_out.get(row, support) for row, support in enumerate(supports)]
        if left_out := sum(judgement is None for _, judgement in judged):
            _log.warning("the judge left out %d of %d claims", left_out, len(judged))
        for row, judgement in judged:
            supports[row] = self._replaced(supports[row], judgement)
        return supports

    def _replaced(self, support: Support, judgement: Judgement | None) -> Support:
        if judgement is None:
            return replace(support, judge_failure=_LEFT_OUT)
        score, conflict = judgement.support, ""
        if judgement.is_contradicted:
            score, conflict = min(score, CONTRADICTED_SUPPORT), support.conflict or _SAYS_OTHERWISE
        return replace(support, score=score, conflict=conflict, method=self._judge.name)


class RememberingScorer:
    """Asks ``inner`` for each pair once: a draft that loses sentences is checked again. Not thread-safe."""

    def __init__(self, inner: ClaimScorer) -> None:
        self._inner = inner
        self._known: dict[ClaimEvidence, Support] = {}

    def score_batch(self, pairs: Sequence[ClaimEvidence]) -> list[Support]:
        """Support of each pair, in order."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        if new:
            self._known.update(zip(new, self._inner.score_batch(new), strict=True))
        return [self._known[pair] for pair in pairs]


def _as_judged(pair: ClaimEvidence) -> JudgedClaim:
    return JudgedClaim(parse_citations(pair.claim, {}).text.strip(), pair.passages, pair.context)
