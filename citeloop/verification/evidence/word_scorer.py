"""Support without an embedding model: how many of a claim's words its source holds. Not calibrated."""

from collections.abc import Sequence

from citeloop.text.sentences import Span
from citeloop.verification.evidence.features import Sentence, evidence_sentences
from citeloop.verification.evidence.quotes import find_quote
from citeloop.verification.evidence.support import CONTRADICTED_SUPPORT, QUOTE_SUPPORT, ClaimEvidence, Support
from citeloop.verification.evidence.traits import TextTraits, read_traits


class WordScorer:
    """Scores claims where nothing but the texts is at hand. Pure and quick; thread-safe."""

    def score_batch(self, pairs: Sequence[ClaimEvidence]) -> list[Support]:
        """Support of each pair, in order: the share of the claim's content words that the passages hold.

        A verbatim quote has ``QUOTE_SUPPORT``; a claim with a number that stands nowhere in them has at most
        ``CONTRADICTED_SUPPORT``.
        """
        return [_score(pair) for pair in pairs]


def _score(pair: ClaimEvidence) -> Support:
    for index, passage in enumerate(pair.passages):
        if span := find_quote(pair.claim, passage):
            return Support(QUOTE_SUPPORT, index, span, "quote")
    claim, sentences = read_traits(pair.claim), evidence_sentences(pair.passages)
    if not sentences or not claim.stems:
        return Support(0.0)
    wanted = frozenset(claim.stems)
    held = read_traits(pair.context).vocabulary.union(*(read_traits(s.text).vocabulary for s in sentences))
    share = min(len(wanted & held) / len(wanted), QUOTE_SUPPORT)
    best = _nearest(claim, sentences)
    return Support(
        share if claim.numbers <= held else min(share, CONTRADICTED_SUPPORT), best.passage, Span(*best.span), "words"
    )


def _nearest(claim: TextTraits, sentences: Sequence[Sentence]) -> Sentence:
    wanted = frozenset(claim.stems)
    return max(sentences, key=lambda sentence: len(wanted & read_traits(sentence.text).vocabulary))
