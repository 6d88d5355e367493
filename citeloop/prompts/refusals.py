"""The sentences that mean "not answered": prompts, parser, offline model and tests all read them here."""

NO_EVIDENCE = "No evidence found"
"""Rule 4 of the citation prompt (ADR-031)."""

INDEX_HAS_NO_ANSWER = "The index has no answer to this question."
"""Said instead of generating when every retrieval came back empty (multi-query specification, stop rules)."""

NOT_FOUND = "not found"
"""A sub-answer whose documents do not answer it (multi-query specification, sub-answer prompt)."""

PART_NOT_FOUND = "The documents do not answer: {part}"
"""Added to a combined answer that does not say itself which part of the question was not found."""

WITHHELD = "The answer was withheld in review."
"""Leaves in place of an answer that a reviewer rejected."""

_REFUSALS = tuple(sentence.rstrip(".").casefold() for sentence in (NO_EVIDENCE, INDEX_HAS_NO_ANSWER, NOT_FOUND))


def is_refusal(answer: str) -> bool:
    """Whether ``answer`` as a whole is one of the refusals (case, white space, quotes and a full stop aside)."""
    return answer.strip().strip("\"'*.").casefold() in _REFUSALS
