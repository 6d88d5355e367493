"""What a sentence shows on its face: stems, names, numbers, dates, places, reasons."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from citeloop.text.plain import plain_text
from citeloop.text.table_rows import read_row
from citeloop.text.words import STOPWORDS, stem, words

_NUMBER_WORDS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million
    millions billion trillion dozen half third quarter twice double first second once""".split()
)
_TIME = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"|\b(?:1\d{3}|20\d\d)s?\b|\b\d+ (?:BC|AD|BCE|CE)\b|centur|decade|\b(?:year|day|month)s?\b"
)
_REASON = re.compile(
    r"\b(?:because|due to|since|so that|in order|as a result|result(?:ed|s)? (?:in|from)|therefore|thus"
    r"|caus(?:e|ed|es|ing)|reasons?|led to|leads? to|allow(?:s|ed|ing)?|prevent|to avoid|owing|attributed)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|near|from|to|of|on|between|across|around|north|south|east|west)\s+(?:the\s+)?[A-Z]\w")
_ADDRESS = re.compile(r"<?\b(?:https?://|www\.)\S+")
_CAPITALISED = re.compile(r"\b[A-Z][\w'\u2019-]+")


@dataclass(frozen=True, slots=True)
class SentenceSignals:
    """A sentence (or a question, or a title) taken apart once and read many times."""

    text: str
    stems: frozenset[str]
    bigrams: frozenset[tuple[str, str]]
    names: frozenset[str]
    """Stems of capitalised words that are no stop words."""
    numbers: frozenset[str]
    word_count: int

    # Read only where the question asks for them, so not ahead of time.

    @property
    def dated(self) -> bool:
        """Whether it tells a time."""
        return _TIME.search(self.text) is not None

    @property
    def reasoned(self) -> bool:
        """Whether it gives a cause, a purpose or a consequence."""
        return _REASON.search(self.text) is not None

    @property
    def located(self) -> bool:
        """Whether a name follows a preposition of place."""
        return _PLACE.search(self.text) is not None


@lru_cache(maxsize=32_768)
def read_signals(text: str) -> SentenceSignals:
    """The signals of what ``text`` says to a reader: markup, addresses and the labels of table rows are taken off.

    Some 30 microseconds for a sentence that was not seen lately.
    """
    row = read_row(text)
    text = _ADDRESS.sub("", " ".join(row.cells) if row else plain_text(text))
    found = words(text)
    stems = [stem(word) for word in found if word not in STOPWORDS]
    capitalised = (name.lower() for name in _CAPITALISED.findall(text))
    return SentenceSignals(
        text=text,
        stems=frozenset(stems),
        bigrams=frozenset(pairwise(stems)),
        names=frozenset(stem(name) for name in capitalised if name not in STOPWORDS),
        numbers=frozenset(word for word in found if word[0].isdigit() or word in _NUMBER_WORDS),
        word_count=len(found),
    )
