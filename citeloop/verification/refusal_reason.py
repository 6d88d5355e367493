"""Why a question was refused: what was looked at, what of the question is not in it, what the asker could change."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from citeloop.prompts.refusals import (
    ASK_OTHERWISE,
    ASK_WITHOUT,
    LOOKED_AT,
    NO_EVIDENCE,
    NOT_ANSWERED,
    NOT_MENTIONED,
    SEARCH_ELSEWHERE,
    SEARCHED_AS,
    is_refusal,
)
from citeloop.text.words import STOPWORDS, content_stems

_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
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
    """Names, numbers and years of the question that stand in none of the passages; where none is missing, its other
    words. ``None`` where the passages were graded and not read."""
    chosen: bool
    """Whether the asker named the collections."""

    def sentences(self, question: str) -> list[str]:
        """In words; none where nothing was looked at. Each keeps the refusal one for ``is_refusal``."""
        if not self.passages:
            return []
        passages = f"{self.passages} passage" + "s" * (self.passages != 1)
        told = [LOOKED_AT.format(passages=passages, corpora=_listed(self.corpora) or "your collections")]
        if others := [query for query in self.queries if query != question]:
            told.append(SEARCHED_AS.format(queries=_listed(others)))
        if self.missing:
            told += [
                NOT_MENTIONED.format(terms=_listed(self.missing)),
                ASK_WITHOUT.format(term=_quoted(self.missing[0])),
            ]
        else:
            told += [ASK_OTHERWISE] if self.missing is None else [NOT_ANSWERED, ASK_OTHERWISE]
        return [*told, SEARCH_ELSEWHERE] if self.chosen else told

    def as_trace(self, question: str) -> dict[str, Any]:
        """Plain values for ``RAGResponse.trace``, the words as ``note``."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        return {**plain, "note": " ".join(self.sentences(question))}


def explain_refusal(refusal: str, reason: RefusalReason, question: str) -> str:
    """``refusal`` with the reason behind it; one in the words of a model gets the usual sentence before it."""
    first = refusal if is_refusal(refusal) else f"{NO_EVIDENCE}. {refusal}"
    told = reason.sentences(question)
    return f"{first.rstrip(' .')}. {' '.join(told)}" if told else refusal


def missing_terms(question: str, texts: Iterable[str]) -> tuple[str, ...]:
    """What ``question`` says and none of ``texts`` does, as the question writes it; neighbours stand together.

    Names, numbers and years alone where one of them is missing: that is what makes a near miss.
    """
    held = frozenset[str]().union(*(content_stems(text) for text in texts))
    runs: list[list[re.Match[str]]] = []
    for word in _WORD.finditer(question):
        if word.group().lower() in STOPWORDS or held.issuperset(content_stems(word.group())):
            continue
        if runs and not question[runs[-1][-1].end() : word.start()].strip():
            runs[-1].append(word)
        else:
            runs.append([word])
    named = [kept for run in runs if (kept := [word for word in run if _is_particular(word)])]
    return tuple(dict.fromkeys(question[run[0].start() : run[-1].end()] for run in named or runs))


def _is_particular(word: re.Match[str]) -> bool:
    """A name or a number; a capital at the beginning of the question makes no name."""
    text = word.group()
    return any(map(str.isdigit, text)) or (text[0].isupper() and word.start() > 0)


def _listed(items: Sequence[str]) -> str:
    shown = [_quoted(item) for item in items[:_MOST_NAMED]]
    more = len(items) - len(shown)
    return ", ".join([*shown, f"{more} more"] if more else shown)


def _quoted(item: str) -> str:
    """As words that are shown, not said; cut where long, without marks that would end the quotation."""
    plain = " ".join(re.sub("[“”]", "", item).split())
    return f"“{plain[:_MOST_CHARACTERS] + '…' * (len(plain) > _MOST_CHARACTERS)}”"
