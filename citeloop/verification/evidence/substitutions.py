"""What a claim has in the place of what its nearest sentence has, where the two otherwise read the same."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from citeloop.text.polarity import are_opposites, is_negation
from citeloop.verification.evidence.names import Token, read_tokens

SubstitutionKind = Literal["negation", "number", "name", "opposite"]

_LEAST_SAME = 0.5
"""Share of the claim's words that the sentence has in the same order."""
_LONGEST = 3
"""Words that may stand for each other; longer stretches are other wordings."""


class Substitution(NamedTuple):
    """``here`` of the claim in the place of ``there`` of the sentence; one of them is empty where a word was added."""

    kind: SubstitutionKind
    here: str
    there: str


def find_substitution(claim: str, sentence: str) -> Substitution | None:
    """The first number, name, negation or opposite that stands in another's place, between words that are the same."""
    here, there = read_tokens(claim), read_tokens(sentence)
    matcher = SequenceMatcher(None, [token.term for token in here], [token.term for token in there], autojunk=False)
    steps = matcher.get_opcodes()
    if sum(i2 - i1 for step, i1, i2, _, _ in steps if step == "equal") < _LEAST_SAME * len(here):
        return None
    for step, i1, i2, j1, j2 in steps:
        if step == "equal" or max(i2 - i1, j2 - j1) > _LONGEST:
            continue
        kind = _kind(here[i1:i2], there[j1:j2], opens=i1 == 0)
        if kind and not (kind == "name" and _is_reordered_list(here[i1:i2], there, j1)):
            return Substitution(kind, _written(claim, here[i1:i2]), _written(sentence, there[j1:j2]))
    return None


def _kind(here: Sequence[Token], there: Sequence[Token], *, opens: bool) -> SubstitutionKind | None:
    if _negates(here) != _negates(there):
        return "negation"
    if _has_number(here) and _has_number(there):
        return "number"
    if not opens and (one := _named(here)) and (other := _named(there)) and not _abbreviates(one, other):
        return "name"
    if any(are_opposites(one.term, other.term) for one in here for other in there):
        return "opposite"
    return None


def _is_reordered_list(here: Sequence[Token], there: Sequence[Token], place: int) -> bool:
    """Whether the name of the claim stands elsewhere in the same list of names."""
    terms = {token.term for token in here}
    found = [index for index, token in enumerate(there) if token.term in terms]
    between = (there[min(index, place) : max(index, place)] for index in found)
    return any(all(token.capital or token.term == "and" for token in tokens) for tokens in between)


def _named(tokens: Sequence[Token]) -> list[str]:
    return [token.term for token in tokens if token.capital and token.is_content]


def _abbreviates(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one is made of the first letters of the other: NBA, National Basketball Association."""
    return any(
        "".join(term[0] for term in long) == short[0].replace(".", "")
        for short, long in ((one, other), (other, one))
        if len(short) == 1
    )


def _negates(tokens: Sequence[Token]) -> bool:
    return any(is_negation(token.term) for token in tokens)


def _has_number(tokens: Sequence[Token]) -> bool:
    return any(token.term[0].isdigit() for token in tokens)


def _written(text: str, tokens: Sequence[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end] if tokens else ""
