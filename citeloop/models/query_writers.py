"""Queries made of a question's own words, for the prompts that ask for some: no model, so nothing is invented."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise

from citeloop.models.evidence import EvidenceJudge
from citeloop.models.prompt_reading import read_text
from citeloop.text.words import STOPWORDS

_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_NAME = re.compile(
    r"[\"“«](?P<quoted>[^\"”»\n]{2,120})[\"”»]"
    r"|[^\W\d_a-z][\w'’.&-]*(?:[ ](?:(?:of|the|de|la|le|du|van|von|der|in|for)[ ]){0,2}[^\W_a-z][\w'’.&-]*){0,8}"
)
_ASKS = "who|whom|whose|what|when|where|which|why|how"
_SECOND_QUESTION = re.compile(
    rf"(?<=\?)\s+|[,;]?\s+and\s+(?=(?:also\s+)?(?:in\s+|on\s+|at\s+|for\s+)?(?:{_ASKS}|is|are|was|were|does|do|did|can)\b)",
    re.IGNORECASE,
)
_TWO_PROPERTIES = re.compile(
    r"\bthe (?P<first>(?:\w+ )?\w+) and (?:the )?(?P<second>(?:\w+ )?\w+) (?P<of>of|for|in) ", re.IGNORECASE
)
_COMPARES = re.compile(r"\bdiffer|\bcompar|\bsimilarit|\bin common\b", re.IGNORECASE)
_CUES = (
    (re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day)\b", re.IGNORECASE), "date year"),
    (re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE), "name person"),
    (re.compile(r"\bwhere\b", re.IGNORECASE), "place location"),
    (re.compile(r"\bwhy\b", re.IGNORECASE), "reason because"),
    (re.compile(r"\bhow (?:long|often)\b", re.IGNORECASE), "duration days weeks months"),
    (re.compile(r"\bhow (?:many|much)\b", re.IGNORECASE), "number amount limit"),
    (re.compile(r"\bhow\b", re.IGNORECASE), "steps procedure"),
)
"""What an answer to such a question tends to say; the first that matches counts."""


def write_rewrites(values: Mapping[str, str], judge: EvidenceJudge) -> str:
    """At most ``n`` queries, one a line: the names in the question one by one, its keywords, and these with the words
    that an answer tends to hold."""
    question = " ".join(read_text(values["question"]).split())
    wanted = int(values["n"]) if values["n"].isdecimal() else 0
    return "\n".join(islice(_distinct(_variants(question)), wanted)) or question


def write_sub_questions(values: Mapping[str, str], judge: EvidenceJudge) -> str:
    """The parts of a compound question, one a line; the question itself where its words show no seam."""
    question = " ".join(read_text(values["question"]).split())
    return "\n".join(_distinct(parts_of(question)))


def write_step_back(values: Mapping[str, str], judge: EvidenceJudge) -> str:
    """A question for the background: of what the question names, else of what it is about."""
    question = " ".join(read_text(values["question"]).split())
    if named := names(question):
        return f"What is generally known about {named[0]}?"
    subject = " ".join(keywords(question))
    return f"What are the general rules and principles of {subject}?" if subject else question


def names(question: str) -> list[str]:
    """Quoted and capitalised phrases, in order, each once; the word that opens the question is none by its capital."""
    found = (match["quoted"] or _capitalised(match.group()) for match in _NAME.finditer(question))
    return list(_distinct(found))


def _capitalised(phrase: str) -> str:
    """The phrase from its first word that could be a name; empty when there is none (or no capitals in its script)."""
    words = phrase.split()
    while words and words[0].casefold() in STOPWORDS:
        words.pop(0)
    name = " ".join(words).strip(" .,'’")
    return name if len(name) > 1 and name[0].isupper() else ""


def _variants(question: str) -> Iterator[str]:
    subject, named = " ".join(keywords(question)), names(question)
    cue = next((words for pattern, words in _CUES if pattern.search(question)), "")
    if len(named) > 1:
        yield from named[:2]
    if subject:
        yield f"{subject} {cue}".strip()
    yield from named
    yield subject


def keywords(question: str) -> list[str]:
    """Its words but stop words, in order, as they are written; repeats kept."""
    return [word for word in _WORD.findall(question) if word.casefold() not in STOPWORDS]


def parts_of(question: str) -> list[str]:
    """The questions that a compound one is made of; itself alone where its words show no seam."""
    parts = [part.strip(" ,;?") + "?" for part in _SECOND_QUESTION.split(question) if part.strip(" ,;?")]
    return parts if len(parts) > 1 else _one_for_each_name(question) or _one_for_each_property(question) or [question]


def _one_for_each_name(question: str) -> list[str]:
    """For "Was A or B born first?": the same of A alone, and of B alone; for "A differs from B": what each is."""
    for pair in pairwise(names(question)):
        first, second = map(re.escape, pair)
        joined = re.search(rf"{first}[\"”»]?,? (?:and|or) (?:the )?[\"“«]?{second}[\"”»]?", question)
        if joined:
            before, after = question[: joined.start()], question[joined.end() :]
            return [f"What is {name}?" if _COMPARES.search(before) else f"{before}{name}{after}" for name in pair]
    return []


def _one_for_each_property(question: str) -> list[str]:
    """ "What are the cause and the duration of X?" """
    found = _TWO_PROPERTIES.search(question)
    if found is None:
        return []
    before, after = question[: found.start()], f" {found['of']} {question[found.end() :]}"
    return [f"{before}the {part}{after}" for part in found.group("first", "second")]


def _distinct(texts: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        if text and text.casefold() not in seen:
            seen.add(text.casefold())
            yield text
