"""What a rewriter, a decomposer and a step-back model replied, as queries; what was dropped, with the reason."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from citeloop.prompts.refusals import is_refusal
from citeloop.text.reply_lists import read_list
from citeloop.text.thinking import strip_thinking
from citeloop.text.words import content_stems


@dataclass(frozen=True, slots=True)
class ReadQueries:
    """The queries of a reply, in its order."""

    kept: list[str] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    """``(query, why it was dropped)``."""


def read_rewrites(reply: str, question: str, most: int) -> ReadQueries:
    """At most ``most`` rewrites; what equals the question or an earlier one (case, white space and closing punctuation
    aside) is dropped. None at all where the reply cannot be read."""
    return _choose(read_list(reply), {_fold(question): "equals the question"}, most)


def read_sub_questions(reply: str, most: int) -> ReadQueries:
    """At most ``most`` independent sub-questions: one that refers to another's answer needs a loop, and is rejected."""
    return _choose(read_list(reply), {}, most, lambda item: "depends on another answer" if depends(item) else "")


def read_step_back(reply: str, question: str) -> str:
    """The one more general question; empty where the reply holds none, or the question itself.

    Where a label names it ("Original: ... Step-back: ..."), what stands before the label is not read.
    """
    text = strip_thinking(reply)
    label = _STEP_BACK_LABEL.search(text)
    items = [item for item in read_list(text[label.start() if label else 0 :]) if _fold(item) != _fold(question)]
    return next((item for item in items if item.endswith(("?", "？"))), items[0] if items else "")


def read_follow_ups(reply: str, asked: Sequence[str], most: int) -> ReadQueries:
    """At most ``most`` queries that were not ``asked`` before; none where the reply is the refusal of the model."""
    items = [] if is_refusal(reply) else read_list(reply)
    return _choose(items, {_fold(query): "was asked before" for query in asked}, most)


def needs_nothing(reply: str) -> bool:
    """Whether a model asked for follow-ups says that there is nothing left to ask."""
    return _NOTHING_LEFT.fullmatch(reply) is not None


def _choose(
    items: Iterable[str], known: dict[str, str], most: int, fault: Callable[[str], str] = lambda item: ""
) -> ReadQueries:
    read = ReadQueries()
    for item in items:
        over = f"over the limit of {most}" if len(read.kept) >= most else ""
        reason = known.get(_fold(item)) or fault(item) or over
        if reason:
            read.dropped.append((item, reason))
        else:
            read.kept.append(item)
            known[_fold(item)] = "equals an earlier one"
    return read


_STEP_BACK_LABEL = re.compile(
    r"^[^\w\n]*+(?:more )?(?:step-?back|general|broader)(?: (?:question|query))?[*_ ]*+[:：]",
    re.IGNORECASE | re.MULTILINE,
)


def _fold(query: str) -> str:
    return "".join(unicodedata.normalize("NFKC", query).casefold().split()).rstrip(".?!。")


_ANSWERED = r"(?:sub-?)?(?:question|query|answer|step|part)s?"
_PLACEHOLDER = re.compile(
    r"\{\w*\}|<[a-z][\w -]*>(?! (?:tags?|elements?)\b)"
    r"|(?<!\S)\[(?:(?-i:[A-Z][A-Z_ ]+)|\w+ from\b[^\]]*|(?:(?:the|that|this|an?) [^\]]+"
    r"|(?:answer|result|name|person|place|city|country|company|director|author|film|movie|artist|date|year|x)\b"
    r"[^\]]*))\]",
    re.IGNORECASE,
)
_NOTHING_LEFT = re.compile(r"\W*none\W*", re.IGNORECASE)
_NAMES_ANOTHER = re.compile(
    r"\bsub-?(?:question|query|answer)s? #?\(?\d|\banswer #?\(?\d++\)?+(?! (?:of|in|on)\b)"
    rf"|\b(?:from|in|to|of|by|using) (?:the )?{_ANSWERED} #?\(?\d++\)?+(?! (?:of|in|on|to)\b)"
    r"|\b(?:of|from|by|with|about|to) #\d|#\d+['’]s\b"
    r"|\b(?:was|were|is|are|did|does|do) #\d+ (?!(?:in|on|at|for|of)\b)\w"
    r"|\b(?!(?:at|reached|hit|is|was|are|were|ranked|the|an?|no)\b)\w+ #\d+\W*$"
    r"|\b(?:answers?|results?) (?:to|of|from|in) (?:the )?(?:(?:previous|first|second|third|above|last)"
    rf" (?:{_ANSWERED}|one|search)\b|(?:previous|above)\W*$)"
    r"|\b(?:previous|preceding|earlier|above) (?:sub-?questions?|questions?|answers?|steps?)\b"
    r"|\b(?:identified|found|mentioned|named|determined|listed|given|described) (?:above|earlier|previously|before)\b"
    r"|\b(?:that|this|the) answer\b(?! to\b)|\bthe (?:former|latter)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:this|these|those"
    r"|(?:about|at|by|for|from|in|near|of|on|to|with|was|were|is|did|does|has|had|can|could|will|would) that)"
    r" (?!(?:(?:day|week|month|quarter|year|decade|century|time)s?|an?|the|there)\b)\w",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:he|she|him|hers?|his|they|them|theirs?|its|this|that\b(?=\W*$| \w+\W*$)"
    r"|it(?! (?:take|cost|mean|possible|necessary|true|legal|allowed|safe|required|ok|okay|important|better|worth)"
    r" (?:to|for|that|if)\b| (?:for|from|to|that)\b"
    r"| (?:rain|snow|hail|thunder)\w*| (?:hot|cold|warm|cool|sunny|windy|cloudy|foggy|humid|dark|late)\b)"
    r"(?<!time is it))\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\w\W+[^\W\d_a-z]|\d|[\"“]")
_ASKING_WORDS = frozenset({"much", "many", "long", "often", "old", "far", "big", "name"})


def depends(sub_question: str) -> bool:
    """Whether ``sub_question`` cannot be answered without another's answer: by its words, so neither way for certain.

    It names another ("the answer to question 1"), points back where it has named nothing ("that city"), or holds a
    pronoun with nothing before it that could be meant ("When was he born?", not "Where do employees park their cars?").
    """
    if _NAMES_ANOTHER.search(sub_question) or _PLACEHOLDER.search(sub_question):
        return True
    pointer = _POINTS_BACK.search(sub_question)
    if pointer and not _NAME.search(sub_question, 0, pointer.start()):
        return True
    pronoun = _PRONOUN.search(sub_question)
    return pronoun is not None and _ASKING_WORDS.issuperset(content_stems(sub_question[: pronoun.start()]))
