"""The sentences that mean "not answered": prompts, parser, offline model and tests all read them here."""

import re

NO_EVIDENCE = "No evidence found"
"""Rule 4 of the citation prompt (ADR-031)."""

INDEX_HAS_NO_ANSWER = "The index has no answer to this question."
"""Said instead of generating when every retrieval came back empty (multi-query specification, stop rules)."""

NOT_FOUND = "not found"
"""A sub-answer whose documents do not answer it (multi-query specification, sub-answer prompt)."""

PART_NOT_FOUND = "The documents do not answer: {part}"
"""Added to a combined answer that does not say itself which part of the question was not found."""

LOOKED_AT = "Looked at, without finding an answer: {passages}{corpora}."
"""Behind a refusal: what was searched. Each sentence of it says that something is not there: see ``is_refusal``."""

NOTHING_FOUND = "No passage was found{corpora}."
"""Behind a refusal, in place of ``LOOKED_AT`` where the search came back empty."""

SEARCHED_AS = "Nothing more was found under {queries}."
"""Behind a refusal: the queries that were made of the question."""

NOT_MENTIONED = "Not mentioned in any of them: {terms}."
"""Behind a refusal: what the question says and no passage does."""

NOT_ANSWERED = "The words of the question stand there, and none of the passages says what is asked."
"""Behind a refusal: nothing of the question is missing, only the answer."""

ASK_WITHOUT = "You could check how {term} is written, ask without it, or add a document that tells of it."
"""Behind a refusal: what the asker could change where something is not mentioned."""

ASK_OTHERWISE = (
    "You could ask in other words, or in the language of the documents, or add a document that answers, since none"
    " here does."
)
"""Behind a refusal: what the asker could change otherwise."""

SEARCH_ELSEWHERE = "Only what you named was searched: you could leave the choice of collections out."
"""Behind a refusal, where the asker chose the collections."""

WITHHELD = "The answer was withheld in review."
"""Leaves in place of an answer that a reviewer rejected."""

SOURCES = r"(?:documents?|sources?|passages?|context|text|evidence|index|sub-?answers?)"
"""Pattern: what answers and refusals call that which they are drawn from."""

_REFUSALS = "|".join(re.escape(sentence.rstrip(".")) for sentence in (NO_EVIDENCE, INDEX_HAS_NO_ANSWER, NOT_FOUND))
_WRAPPING = re.compile(r"</?\w{1,20}>|^\W*(?:sub-?)?answer\s*:", re.IGNORECASE)
_REFUSAL = re.compile(
    rf"\W*(?:{_REFUSALS})(?: (?:in|by|within|among) (?:any of )?(?:\w+ ){{0,3}}?{SOURCES})?[\"'*]*+"
    r"(?:\s*+[.!,;:–—](?P<reason>.*)|\s++-(?P<aside>.*))?\W*",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"“[^”\n]{0,500}”")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_TELLS_WHY = re.compile(
    r"\b(?:no|not|none|nothing|neither|nor|only|without|lacks?|instead|cannot)\b|n['’]t\b"
    r"|\b(?:is|are|talks?|speaks?|tells?) about\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\b(?:but|however|although|though|yet|nevertheless|still)\b", re.IGNORECASE)


def is_refusal(answer: str) -> bool:
    """Whether ``answer`` as a whole is one of the refusals, with or without the reason for it.

    Case, white space, quotes and tags around it aside: "Not found in the documents.", "not found - no price is given",
    "Not found. The documents only speak of cats." are refusals; "Not found in 1999." and "No evidence found for Mars,
    but Venus has some." are answers. What stands “between these marks” asserts nothing.
    """
    refusal = _REFUSAL.fullmatch(_WRAPPING.sub(" ", answer).strip())
    reason = ((refusal["reason"] or refusal["aside"]) if refusal else None) or ""
    return refusal is not None and _only_tells_why(reason)


def _only_tells_why(reason: str) -> bool:
    reason = _QUOTED.sub("it", reason)
    sentences = [sentence for sentence in _SENTENCE_END.split(reason.strip()) if any(map(str.isalnum, sentence))]
    return not _CONTRAST.search(reason) and all(map(_TELLS_WHY.search, sentences))
