"""The custom stream events about an answer; those about progress are in ``graph.progress``."""

from typing import Literal

from typing_extensions import TypedDict

from citeloop.state.models import AnswerClaim, ClaimVerdict


class ClaimChecked(TypedDict):
    """A claim of a draft has its verdict. Nothing of its words: the draft may never leave."""

    event: Literal["claim_checked"]
    node: str
    round: int
    number: int
    """From 1, in the order of the draft."""
    verdict: ClaimVerdict
    support: float
    citation_ids: list[int]
    text: str
    """The same for a person to read, in one line."""


class AnswerSentence(TypedDict):
    """A sentence (or a clause with citations of its own) of the answer leaves. All of them joined are the answer."""

    event: Literal["answer_sentence"]
    node: str
    number: int
    """From 1."""
    sentence: str
    """As it stands in the answer, with its citations and the white space after it."""
    verdict: ClaimVerdict | Literal[""]
    """Empty where the answer has no claims: a refusal, or one that was not checked."""
    support: float
    citation_ids: list[int]
    text: str
    """The verdict for a person to read, in one line."""


def claim_checked(claim: AnswerClaim, number: int, *, node: str, round: int) -> ClaimChecked:
    """The event of the ``number``-th claim of the draft of ``round``."""
    return ClaimChecked(
        event="claim_checked",
        node=node,
        round=round,
        number=number,
        verdict=claim.verdict,
        support=claim.support,
        citation_ids=list(claim.citation_ids),
        text=f"claim {number}: {_in_words(claim)}",
    )


def answer_sentence(sentence: str, claim: AnswerClaim | None, number: int, *, node: str) -> AnswerSentence:
    """The event of the ``number``-th sentence of the answer."""
    return AnswerSentence(
        event="answer_sentence",
        node=node,
        number=number,
        sentence=sentence,
        verdict=claim.verdict if claim else "",
        support=claim.support if claim else 0.0,
        citation_ids=list(claim.citation_ids) if claim else [],
        text=f"sentence {number}: {_in_words(claim) if claim else 'no claims were checked'}",
    )


def _in_words(claim: AnswerClaim) -> str:
    words = claim.verdict.replace("_", " ")
    return words if claim.verdict == "not_a_claim" else f"{words} ({claim.support:.2f})"
