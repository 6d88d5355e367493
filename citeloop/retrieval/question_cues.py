"""What the words of a question say of its kind, as numbers for a linear model."""

import re
from collections.abc import Callable

from citeloop.text.words import words

_MOST_WORDS, _MOST_JOINS = 30, 5
_JOINS = re.compile(r"\b(and|or|but|while|whose|which|that|who|where|when|after|before|of the|by the)\b", re.IGNORECASE)
_POINTS_AT = r"(of|that|who|which|where|whose)\b"

_PATTERNS = {
    "asks what": r"^\W*(what|which)\b",
    "asks who": r"^\W*who\b",
    "asks when": r"^\W*when\b",
    "asks where": r"^\W*where\b",
    "asks how": r"^\W*how\b",
    "asks why": r"^\W*why\b",
    "asks whether": r"^\W*(is|are|was|were|do|does|did)\b",
    "asks for an amount": r"\bhow (many|much|long|old|often)\b",
    "weighs": r"\b(compar\w+|versus|vs\.?|differ(s|ence|ences|ent)?\b.*\b(between|from|to)|similarit\w+|in common)\b",
    "asks which is more": r"\b(same|older|younger|earlier|later|longer|larger|bigger|higher|first|better|more|less)\b"
    r"[^?]*\bor\b",
    "names both": r"\bboth\b",
    "offers a choice": r"\w,? or \w",
    "has a degree": r"\b\w+(er|est)\b",
    "asks for steps": r"\bhow\s+(do|can|should|would|could|must)\s+(i|you|we|one)\b|\bhow\s+to\b|\bsteps?\s+(to|for)\b",
    "asks for reasons": r"\b(why|how come|explain|analy[sz]e|cause[sd]?|reasons?|effects?|impacts?|consequences?"
    r"|implications?|relationship|affect(s|ed)?|influence[sd]?|how (do|does|did|is|are|was|were))\b",
    "asks for an overview": r"\b(summari[sz]e|summary|overview|outline|discuss(ed|ion)?|tell me (more )?about"
    r"|everything|all the)\b",
    "asks for a meaning": r"\b(mean|meaning|purpose|reason|role|process|works?|happens?|describe|explain)\b",
    "describes a thing": r"\b(the|a|an) (\w+ ){1,3}" + _POINTS_AT,
    "describes a thing of a thing": r"\b(of|by|in|for|with) (the|a) \w+ " + _POINTS_AT,
    "names a relative": r"\bwhose\b|'s (father|mother|wife|husband|son|director|capital|author)",
    "points twice": r"\b(that|who|which|where)\b.*\b(that|who|which|where)\b",
    "of twice": r"\bof\b.*\bof\b",
    "has a clause": r"\b(that|which|who|whom|whose|where)\b (\w+ ){1,12}(\w+ed|is|was|are|\w+s)\b",
}
_CUES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _PATTERNS.items()}

_SMALL_TALK_WORDS = re.compile(
    r"\b(you|your|yours|yourself|you're|ya|u|ur|thanks?|thx|hi|hey|hello|bye|goodbye|joke|funny)\b", re.IGNORECASE
)

_COUNTS: dict[str, Callable[[str], float]] = {
    "length": lambda question: min(len(words(question)), _MOST_WORDS) / 10,
    "joins": lambda question: min(len(_JOINS.findall(question)), _MOST_JOINS) / 2,
    "possessives": lambda question: min(question.count("'s"), 3),
}


def kind_cues(question: str) -> dict[str, float]:
    """The cues of its kind by name: 1 or 0, and counts of words, of joining words and of possessives, scaled."""
    told = {name: float(bool(pattern.search(question))) for name, pattern in _CUES.items()}
    return told | {name: float(count(question)) for name, count in _COUNTS.items()}


def small_talk_cues(text: str) -> dict[str, float]:
    """Whether the assistant is spoken to, and how long the text is, scaled."""
    return {
        "speaks to the assistant": float(bool(_SMALL_TALK_WORDS.search(text))),
        "length": min(len(words(text)), 12) / 6,
    }
