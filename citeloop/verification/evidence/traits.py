"""What the support check reads off a text. Cached: the same passages are read for every claim and every draft."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from citeloop.text.polarity import have_opposites, negated_words
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
_NAME = re.compile(r"(?<![^\W_])[^\W\d_a-z][^\W_]*(?:['’-][^\W_]+)*")
_NON_WORD = re.compile(r"\W+")
_GRAM = 4


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
        return have_opposites(self.vocabulary, other.vocabulary)


@lru_cache(maxsize=16_384)
def read_traits(text: str) -> TextTraits:
    """The traits of a sentence (or of a heading)."""
    all_words = ["not" if word.endswith(("n't", "n’t")) else word for word in words(text)]
    stems = tuple(read_term(word) for word in all_words if word not in STOPWORDS)
    plain = _NON_WORD.sub(" ", text.lower())
    return TextTraits(
        stems=stems,
        vocabulary=frozenset(read_term(word) for word in all_words),
        bigrams=frozenset(pairwise(stems)),
        grams=frozenset(plain[i : i + _GRAM] for i in range(len(plain) - _GRAM + 1)),
        numbers=frozenset(term for term in stems if any(map(str.isdigit, term))),
        names=frozenset(
            read_term(word) for name in _NAME.findall(text) for word in words(name) if word not in STOPWORDS
        ),
        first=read_term(all_words[0]) if all_words else "",
        negated=frozenset(map(read_term, negated_words(all_words))),
    )


@lru_cache(maxsize=4_096)
def read_sentences(passage: str) -> tuple[Span, ...]:
    """The sentences of a passage."""
    return tuple(split_sentences(passage))


def read_term(word: str) -> str:
    """The stem of a lower-case word; of a number its digits."""
    if word[0].isdigit():
        return word.replace(",", "")
    return NUMBER_WORDS.get(word) or stem(word)
