"""Words of a text, as the lexical index, the analyzer and the scorers see them."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"[^\W_]+(?:['’.,][^\W_]+)*")
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u0e00-\u0e7f]+")
_SYLLABLE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""A Chinese character or a Korean syllable: often a word by itself, which a letter of kana or Thai hardly ever is."""

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
    return _cut(text, _pairs)


def content_stems(text: str) -> list[str]:
    """Stems of the words of ``text`` that are not stop words, in order, repeats kept.

    In runs of Chinese, Japanese and Korean the single characters stand beside the pairs: 猫は and 猫が share 猫.
    """
    return [stem(word) for word in _cut(text, _pairs_and_syllables) if word not in STOPWORDS]


def has_unspaced_script(text: str) -> bool:
    """Whether ``text`` holds characters of a script that sets no spaces between words, or that is cut as such."""
    return _CJK_RUN.search(text) is not None


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """English Snowball stem; words of other scripts come back as they are."""
    base = word.removesuffix("'s").removesuffix("’s")
    return str(_stemmer().stemWord(base))


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def _cut(text: str, cut_run: Callable[[str], Iterator[str]]) -> list[str]:
    lowered = _WORD.findall(text.lower())
    if not _CJK_RUN.search(text):
        return lowered
    found: list[str] = []
    for word in lowered:
        if _CJK_RUN.search(word):
            found.extend(_cut_mixed(word, cut_run))
        else:
            found.append(word)
    return found


def _pairs(run: str) -> Iterator[str]:
    return (run[i : i + 2] for i in range(max(1, len(run) - 1)))


def _pairs_and_syllables(run: str) -> Iterator[str]:
    yield from _pairs(run)
    if len(run) > 1:
        yield from _SYLLABLE.findall(run)


def _cut_mixed(word: str, cut_run: Callable[[str], Iterator[str]]) -> list[str]:
    parts: list[str] = []
    at = 0
    for run in _CJK_RUN.finditer(word):
        if run.start() > at:
            parts.append(word[at : run.start()].strip("'’.,"))
        parts.extend(cut_run(run.group()))
        at = run.end()
    if at < len(word):
        parts.append(word[at:].strip("'’.,"))
    return [part for part in parts if part]
