"""The kind of thing a question asks for, read off its words."""

import re
from enum import StrEnum


class ExpectedAnswer(StrEnum):
    """What an answer must hold: the coarse classes of factoid question answering (Li and Roth, 2002)."""

    PERSON = "person"
    TIME = "time"
    QUANTITY = "quantity"
    PLACE = "place"
    REASON = "reason"
    MANNER = "manner"
    OTHER = "other"


_ASKED = r"\b(?:what|which)\s+(?:\w+\s+)?(?:%s)\b"

_PATTERNS: tuple[tuple[ExpectedAnswer, re.Pattern[str]], ...] = tuple(
    (expected, re.compile(pattern, re.IGNORECASE))
    for expected, pattern in (
        (
            ExpectedAnswer.QUANTITY,
            r"\bhow\s+(?:many|much|long|old|far|tall|big|large|high|fast|often|deep|wide)\b|"
            + _ASKED % "percent|percentage|number|amount|age|proportion|fraction|size|population|rate|price|cost",
        ),
        (ExpectedAnswer.TIME, r"\bwhen\b|" + _ASKED % "years?|dates?|century|decade|month|day|time|era|period"),
        (
            ExpectedAnswer.PERSON,
            r"\bwho(?:se|m)?\b|"
            + _ASKED
            % "person|people|man|woman|king|queen|president|scientist|author|player|name|actor|character|leader"
            "|general|company|group|organi[sz]ation|team",
        ),
        (
            ExpectedAnswer.PLACE,
            r"\bwhere\b|"
            + _ASKED
            % "city|country|state|place|location|region|river|area|county|town|continent|island|street|building"
            "|school|university",
        ),
        (ExpectedAnswer.REASON, r"\bwhy\b|\bwhat\s+(?:(?:is|was|are|were)\s+the\s+)?(?:reasons?|causes?)\b"),
        (ExpectedAnswer.MANNER, r"^\W*how\b"),
    )
)


def expected_answer(question: str) -> ExpectedAnswer:
    """The first kind whose words stand in the question; ``OTHER`` where none does (and for other languages)."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(question)), ExpectedAnswer.OTHER)
