"""What ``claim_policy`` strict takes out of an answer."""

from typing import NamedTuple

from citeloop.state.config import RAGConfig
from citeloop.state.models import AnswerClaim
from citeloop.verification.answer_text.answer_layout import read_places
from citeloop.verification.answer_text.dependents import with_dependents
from citeloop.verification.answer_text.sentence_removal import without_sentences
from citeloop.verification.checked_answer import CheckedAnswer

_NOT_SUPPORTED = "its sentence also holds a claim that is not supported"


class Removal(NamedTuple):
    """What is left of an answer, and the claims that are not."""

    text: str
    claims: list[AnswerClaim]
    """Every sentence or clause that was taken out, in order, with its verdict and the reason why it went."""


def without_unsupported(checked: CheckedAnswer, settings: RAGConfig) -> Removal:
    """``checked`` without the sentences that hold a claim which is not supported, and without what hangs on them."""
    told = list(checked.claims(settings))
    taken = {
        index: _NOT_SUPPORTED
        for index, rows in enumerate(told)
        if any(row.verdict not in ("supported", "not_a_claim") for row in rows)
    }
    gone = with_dependents(checked.sentences, read_places(checked.answer, checked.sentences), taken)
    return Removal(
        without_sentences(checked.answer, checked.sentences, gone.keys()),
        [_with_reason(row, gone[index]) for index in sorted(gone) for row in told[index]],
    )


def _with_reason(claim: AnswerClaim, reason: str) -> AnswerClaim:
    """One that is not supported by itself has a reason already."""
    itself = claim.verdict not in ("supported", "not_a_claim")
    return claim if itself else claim.model_copy(update={"reason": reason})
