"""Which sentences can answer a question at all, whatever their relevance."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from citeloop.models.evidence import Scores
from citeloop.models.quotable import Quotable
from citeloop.text.words import content_stems

_POLAR = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|can|could|should|must|may|might|will|would|has|have|had)\b", re.IGNORECASE
)
_PHRASES = "for example, for instance, note that, see the following section below"
"""Words that add nothing to an answer."""
_SCRIPTS = tuple(  # kana, hangul, han, Greek, Cyrillic, Hebrew and Arabic
    re.compile(f"[{first}-{last}]")
    for first, last in ("\u3040\u30ff", "\uac00\ud7af", "\u3400\u9fff", "\u0370\u03ff", "\u0400\u04ff", "\u0590\u08ff")
)
_LETTER = re.compile(r"[^\W\d_]")
_SHARE_OF_A_SCRIPT = 0.2
"""Of the letters, from which a text is in a script other than Latin: names and code are Latin in any text."""
_ABOUT_THE_TEXT = re.compile(
    r"\W*(?:in\s+)?(?:this|the\s+(?:following|next))\s+"
    r"(?:section|chapter|page|part|guide|tutorial|document|appendix|article|table|list)\b",
    re.IGNORECASE,
)
_TELLS_OF_THE_TEXT = 2.0
"""Taken off the score (a logit) of "This section describes ...": it promises the answer."""
_OTHER_SCRIPT = 3.0
"""Taken off the score (a logit) of a sentence in another script than the question's: of a page and its translations,
the one that its reader can read comes first."""


def weigh_fitness(question: str, passages: Sequence[Sequence[Quotable]], scores: Sequence[Scores]) -> list[Scores]:
    """``scores`` (logits) with what only repeats the question at minus infinity, unless it asks for yes or no; lowered
    for what tells of the text itself, and for what is in another script than the question."""
    known = Counter(() if _POLAR.match(question) else content_stems(f"{question} {_PHRASES}"))
    script = _script(question)
    return [
        of_passage - np.array([_unfitness(quotable, known, script) for quotable in passage])
        for passage, of_passage in zip(passages, scores, strict=True)
    ]


def _unfitness(quotable: Quotable, known: Counter[str], script: int) -> float:
    if known and not quotable.leads_in and quotable.stems <= known:
        return np.inf
    about_the_text = _ABOUT_THE_TEXT.match(quotable.quote) is not None and not quotable.leads_in
    return _TELLS_OF_THE_TEXT * about_the_text + _OTHER_SCRIPT * (_script(quotable.quote) != script)


def _script(text: str) -> int:
    """Index of the first of ``_SCRIPTS`` that ``text`` is written in; one past the last for Latin."""
    if text.isascii():
        return len(_SCRIPTS)
    least = _SHARE_OF_A_SCRIPT * len(_LETTER.findall(text))
    shares = (len(script.findall(text)) for script in _SCRIPTS)
    return next((index for index, share in enumerate(shares) if share > least), len(_SCRIPTS))
