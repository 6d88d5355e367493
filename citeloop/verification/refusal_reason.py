"""Why a question was refused: what was looked at, what of the question is not in it, what the asker could change."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from citeloop.prompts.refusals import (
    ASK_OTHERWISE,
    ASK_WITHOUT,
    LOOKED_AT,
    NO_EVIDENCE,
    NOT_ANSWERED,
    NOT_MENTIONED,
    NOTHING_FOUND,
    SEARCH_ELSEWHERE,
    SEARCHED_AS,
    is_refusal,
)
from citeloop.text.words import STOPWORDS, content_stems, has_unspaced_script

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_UNTOLD = STOPWORDS | {"many", "much"}
_MOST_NAMED = 5
_MOST_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class RefusalReason:
    """What a refusal tells: of collections that the caller may read, and of the question; nothing of any document."""

    corpora: tuple[str, ...]
    """Collections searched as the caller, in the order of the search."""
    passages: int
    """Passages looked at."""
    queries: tuple[str, ...]
    """What was searched for."""
    missing: tuple[str, ...] | None
    """What the question says and none of the passages does: see ``missing_terms``. ``None`` where that is not known."""
    chosen: bool
    """Whether the asker named the collections."""

    def sentences(self, question: str) -> Iterator[str]:
        """In words. Each keeps the refusal one for ``is_refusal``."""
        corpora = f" in {_listed(self.corpora)}" if self.corpora else ""
        passages = f"{self.passages} passage" + "s" * (self.passages != 1)
        yield (LOOKED_AT if self.passages else NOTHING_FOUND).format(passages=passages, corpora=corpora)
        if others := [query for query in self.queries if query != question]:
            yield SEARCHED_AS.format(queries=_listed(others))
        if self.missing:
            yield NOT_MENTIONED.format(terms=_listed(self.missing))
            yield ASK_WITHOUT.format(term=_quoted(self.missing[0]))
        else:
            if self.missing is not None:
                yield NOT_ANSWERED
            yield ASK_OTHERWISE
        if self.chosen:
            yield SEARCH_ELSEWHERE

    def as_trace(self, question: str) -> dict[str, Any]:
        """Plain values for ``RAGResponse.trace``, the words as ``note``."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {**plain, "note": " ".join(self.sentences(question))}


def explain_refusal(refusal: str, reason: RefusalReason, question: str) -> str:
    """``refusal`` with the reason behind it.

    What a model says in words of its own stands behind the usual sentence, as long as it reads as a refusal there.
    """
    worded = (refusal, f"{NO_EVIDENCE}. {refusal}", NO_EVIDENCE)
    first = next(text for text in worded if is_refusal(text))
    return f"{first.rstrip(' .')}. {' '.join(reason.sentences(question))}"


def missing_terms(question: str, texts: Iterable[str]) -> tuple[str, ...] | None:
    """What ``question`` says and none of ``texts`` does, as the question writes it; neighbours stand together.

    Names, numbers and years alone where one of them is missing: that is what makes a near miss. Else its other words,
    the first one left out: it is the question word or the verb, in whatever language. Scripts without spaces are not
    looked through. ``None`` where only such things are missing, or nothing of ``question`` can be looked up.
    """
    held = frozenset[str]().union(*(content_stems(text) for text in texts))
    shown = "".join(" " if has_unspaced_script(character) else character for character in question)
    words = [word for word in _WORD.finditer(shown) if word.group().lower() not in _UNTOLD]
    missing = [word for word in words if not held.issuperset(content_stems(word.group()))]
    begins = -1 if shown != question else 0
    told = [word for word in missing if _is_particular(word, begins)] or [w for w in missing if w.start() > begins]
    if not told:
        return () if words and not missing and shown == question else None
    return tuple(dict.fromkeys(_runs(told, question)))


def _runs(words: Sequence[re.Match[str]], question: str) -> Iterator[str]:
    """Words with nothing but white space between them, as one."""
    start, end = words[0].span()
    for word in words[1:]:
        if question[end : word.start()].strip():
            yield question[start:end]
            start = word.start()
        end = word.end()
    yield question[start:end]


def _is_particular(word: re.Match[str], begins: int) -> bool:
    """A name or a number; the capital that stands where the question ``begins`` makes no name."""
    text = word.group()
    return any(map(str.isdigit, text)) or (text[0].isupper() and word.start() > begins)


def _listed(items: Sequence[str]) -> str:
    shown = [_quoted(item) for item in items[:_MOST_NAMED]]
    more = len(items) - len(shown)
    return ", ".join([*shown, f"{more} more"] if more else shown)


def _quoted(item: str) -> str:
    """As words that are shown, not said; cut where long, without marks that would end the quotation."""
    plain = " ".join(re.sub("[“”]", "", item).split())
    return f"“{plain[:_MOST_CHARACTERS] + '…' * (len(plain) > _MOST_CHARACTERS)}”"
