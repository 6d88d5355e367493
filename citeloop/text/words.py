"""Words of a text, as the lexical index, the analyzer and the scorers see them."""

import re
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]+")

STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but by
    can could did do does doing done down during each few for from further had has have having he her here hers him his
    how i if in into is it its itself just may me might more most must my no nor not of off on once only or other our
    ours out over own same shall she should so some such than that the their theirs them then there these they this
    those through to too under until up upon us very was we were what when where which while who whom whose why will
    with would you your yours""".split()
)


def words(text: str) -> list[str]:
    """Lower-cased words in order. Numbers keep their inner points; runs of Chinese, Japanese, Korean and Thai script
    become overlapping pairs of characters (single ones stay single), which is what a search over them can match."""
    lowered = _WORD.findall(text.lower())
    if not _CJK_RUN.search(text):
        return lowered
    found: list[str] = []
    for word in lowered:
        if _CJK_RUN.search(word):
            found.extend(_cut_mixed(word))
        else:
            found.append(word)
    return found


def content_stems(text: str) -> list[str]:
    """Stems of the words of ``text`` that are not stop words, in order, repeats kept."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """English Snowball stem; words of other scripts come back as they are."""
    base = word.removesuffix("'s").removesuffix("’s")
    return str(_stemmer().stemWord(base))


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def _cut_mixed(word: str) -> list[str]:
    parts: list[str] = []
    at = 0
    for run in _CJK_RUN.finditer(word):
        if run.start() > at:
            parts.append(word[at : run.start()].strip("'’.,"))
        characters = run.group()
        parts.extend(characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
        at = run.end()
    if at < len(word):
        parts.append(word[at:].strip("'’.,"))
    return [part for part in parts if part]
