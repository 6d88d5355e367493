"""Sentences that say what the sources do not hold: neither claims nor answers."""

import re

from citeloop.prompts.refusals import NO_EVIDENCE, NOT_FOUND, SOURCES

_SOURCES = re.compile(rf"\b{SOURCES}\b", re.IGNORECASE)
_NOT_SAID = re.compile(
    r"\bno (?:\w+ ){0,2}(?:evidence|information|mention|details?|answer)\b"
    r"|\b(?:do|does|did|is|are|was|were|could|can)(?:n['’]t|not| not) (?:\w+ ){0,2}"
    r"(?:cover|mention|say|state|specif|found|find|provide|contain|answer|address)",
    re.IGNORECASE,
)
_PART = (
    r"(?:(?:sub-?)?question|(?:(?:other|first|second|third|fourth|last|remaining) )?(?:part|aspect|portion|half)s?"
    r" (?:about|on|regarding|concerning|asking|of (?:the|your|this) (?:original )?question))"
)
_NO = r"(?:n['’]t|not| not)"
_UNANSWERED = rf"(?:(?:could|can){_NO} be (?:fully |directly )?answered|(?:remains?|(?:is|was) left) unanswered)"
_MISSING_PART = (
    # "What c is could not be answered.", "How long it lasts remains unanswered."
    r"^\W*(?:(?:however|unfortunately|also),? )?(?:what|how|who|whom|whose|when|where|which|why|whether)\b.{0,300}?"
    rf"\b(?:{_UNANSWERED}|(?:was|is|were){_NO} answered)\b",
    # "The part about parking is not covered.", "The second sub-question could not be answered."
    rf"^\W*(?:\w+,? ){{0,3}}(?:the|this|that|one|your) (?:\w+ )?{_PART}\b.{{0,300}}?\b(?:{_UNANSWERED}|"
    rf"(?:(?:is|are|was|were){_NO}|(?:could|can){_NO} be) (?:answered|covered|addressed|found|mentioned))\W*$",
    # "No answer was found for parking."
    r"^\W*(?:\w+,? ){0,2}no (?:sub-?)?answers? (?:(?:was|were|is|could be) )?(?:found|given|available)\b",
    # "I could not find information about parking."
    rf"\bI (?:could|can|did){_NO} (?:find|answer|locate) (?:\w+ )?"
    r"(?:information|evidence|mention|answer|part|what|how|who|when|where|which|why|whether)\b",
    # "Parking: not found."
    rf"[:–—] *[\"'“]?{NOT_FOUND}[\"'”]?\W*$",
)
_NAMES_MISSING_PART = re.compile("|".join(_MISSING_PART), re.IGNORECASE)


def abstains(sentence: str) -> bool:
    """Whether ``sentence`` says that the sources do not hold something, or which part of the question has no answer.

    What is not covered, found or answered in the world is a claim: "The policy does not cover parking."
    """
    if NO_EVIDENCE.casefold() in sentence.casefold():
        return True
    return bool((_NOT_SAID.search(sentence) and _SOURCES.search(sentence)) or _NAMES_MISSING_PART.search(sentence))
