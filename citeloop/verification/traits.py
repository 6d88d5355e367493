"""What the support check reads off a text. Cached: the same passages are read for every claim and every draft."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from citeloop.text.sentences import Span, split_sentences
from citeloop.text.words import STOPWORDS, stem, words

NUMBER_WORDS = {
    word: str(number)
    for number, word in [
        *enumerate(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
            " seventeen eighteen nineteen".split()
        ),
        *zip(range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety".split(), strict=True),
    ]
}
_NEGATIONS = frozenset(
    "not no never none neither nor without cannot nobody nothing unable fail fails failed lack".split()
)
_NEGATION_REACH = 3
"""Content words after a negation that it may turn around."""

_NAME = re.compile(r"(?<![^\W_])[^\W\d_a-z][^\W_]*(?:['’-][^\W_]+)*")
_NON_WORD = re.compile(r"\W+")
_GRAM = 4

OPPOSITE_PAIRS = tuple(
    (one, other)
    for one, _, other in (
        pair.partition("/")
        for pair in """
        increase/decrease increase/reduce rise/fall grow/shrink gain/loss win/lose more/less more/fewer higher/lower
        high/low before/after first/last begin/end start/stop minimum/maximum least/most always/never allow/forbid
        allow/prohibit permit/prohibit permit/forbid required/optional mandatory/optional include/exclude accept/reject
        approve/reject enable/disable open/closed true/false true/untrue success/failure positive/negative north/south
        east/west larger/smaller large/small longer/shorter long/short older/younger early/late earlier/later
        above/below up/down public/private internal/external buy/sell import/export paid/unpaid legal/illegal
        possible/impossible safe/unsafe same/different all/none cause/prevent support/oppose major/minor inside/outside
        hot/cold encrypt/decrypt
        """.split()
    )
)


@lru_cache(maxsize=1)
def _opposites() -> dict[str, frozenset[str]]:
    """Stems to the stems of their opposites."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one, other in OPPOSITE_PAIRS:
        found[stem(one)].add(stem(other))
        found[stem(other)].add(stem(one))
    return {word: frozenset(others) for word, others in found.items()}


@dataclass(frozen=True, slots=True)
class TextTraits:
    """Sets that overlaps are computed from; stems are those of content words, numbers brought to one form."""

    stems: tuple[str, ...]
    vocabulary: frozenset[str]
    """The stems of all words, stop words too."""
    bigrams: frozenset[tuple[str, str]]
    grams: frozenset[str]
    """Runs of four characters of the lower-cased text."""
    numbers: frozenset[str]
    names: frozenset[str]
    """Stems of capitalised words, the first word of the text included."""
    first: str
    """The first stem: a capital there makes no name."""
    negated: frozenset[str]
    """Stems that stand soon after a negation."""

    def denies(self, other: "TextTraits") -> bool:
        """Whether one of the two negates a word that the other says without negation."""
        turned = (self.negated & other.vocabulary) | (other.negated & self.vocabulary)
        return bool(turned) and self.negated.isdisjoint(other.negated)

    def opposed_to(self, other: "TextTraits") -> bool:
        """Whether a word of this text stands against its opposite in ``other``: "more" here, only "less" there."""
        here, there = self.vocabulary - other.vocabulary, other.vocabulary - self.vocabulary
        return any(not _opposites()[word].isdisjoint(there) for word in here & _opposites().keys())


@lru_cache(maxsize=16_384)
def read_traits(text: str) -> TextTraits:
    """The traits of a sentence (or of a heading)."""
    all_words = ["not" if word.endswith(("n't", "n’t")) else word for word in words(text)]
    stems = tuple(_term(word) for word in all_words if word not in STOPWORDS)
    plain = _NON_WORD.sub(" ", text.lower())
    return TextTraits(
        stems=stems,
        vocabulary=frozenset(_term(word) for word in all_words),
        bigrams=frozenset(pairwise(stems)),
        grams=frozenset(plain[i : i + _GRAM] for i in range(len(plain) - _GRAM + 1)),
        numbers=frozenset(term for term in stems if any(map(str.isdigit, term))),
        names=frozenset(_term(word) for name in _NAME.findall(text) for word in words(name) if word not in STOPWORDS),
        first=_term(all_words[0]) if all_words else "",
        negated=frozenset(_negated(all_words)),
    )


def _negated(all_words: Sequence[str]) -> Iterator[str]:
    reach = 0
    for word in all_words:
        if word in _NEGATIONS:
            reach = _NEGATION_REACH
        elif reach and word not in STOPWORDS:
            reach -= 1
            yield _term(word)


@lru_cache(maxsize=4_096)
def read_sentences(passage: str) -> tuple[Span, ...]:
    """The sentences of a passage."""
    return tuple(split_sentences(passage))


def _term(word: str) -> str:
    if word[0].isdigit():
        return word.replace(",", "")
    return NUMBER_WORDS.get(word) or stem(word)
