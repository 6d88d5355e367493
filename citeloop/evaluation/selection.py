"""Which rows of a set are measured, and where each question is searched."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from citeloop.errors import InvalidRequest
from citeloop.evaluation.sets import EvaluationSet, Question, Row

_RowT = TypeVar("_RowT", bound=Row)


@dataclass(frozen=True, slots=True)
class Selection:
    """What the caller asked to measure."""

    corpora: tuple[str, ...] = ()
    """Corpora to search; empty: all of the set."""
    own_corpus: bool = False
    """Search each question in the corpus of its own documents only."""
    where: tuple[tuple[str, str], ...] = ()
    """Fields that a row must have, with their values; all must hold, also two of one field (a list may hold both)."""
    last_turn: bool = False
    """Ask a question that has turns before it as if it had none."""
    limit: int | None = None
    """Rows measured at the most: a sample that is the same in every run."""


def select(evaluation_set: EvaluationSet, selection: Selection) -> EvaluationSet:
    """The set with the rows to measure only, in the order of their files; documents stay.

    A kind of rows that has no field of ``where`` is left out. The sample of ``limit`` rows a kind takes those whose key
    hashes lowest: it does not depend on the order of the file, and a larger sample holds the smaller one.

    Raises:
        InvalidRequest: a field of ``where`` that no row has, or no row left.
    """
    chosen = replace(
        evaluation_set,
        questions=_without_history(_select(evaluation_set.questions, selection), selection),
        claims=_select(evaluation_set.claims, selection),
        intents=_select(evaluation_set.intents, selection),
    )
    if not (chosen.questions or chosen.claims or chosen.intents):
        _check_fields([*evaluation_set.questions, *evaluation_set.claims, *evaluation_set.intents], selection.where)
        wanted = " and ".join(f"{name}={value}" for name, value in selection.where)
        raise InvalidRequest(f"no row of {evaluation_set.name} has {wanted}; leave --where out to measure all")
    return chosen


def _without_history(questions: tuple[Question, ...], selection: Selection) -> tuple[Question, ...]:
    if not selection.last_turn:
        return questions
    return tuple(question.model_copy(update={"history": ()}) for question in questions)


def corpora_to_search(evaluation_set: EvaluationSet, selection: Selection) -> list[tuple[str, ...]]:
    """The corpora in which each question of the set is searched.

    Raises:
        InvalidRequest: a corpus that the set does not have, or ``own_corpus`` for a question without documents.
    """
    _check_corpora(evaluation_set, selection)
    if selection.own_corpus:
        corpus_of = {document.doc_id: document.corpus_id for document in evaluation_set.documents}
        return [_own_corpora(question, corpus_of) for question in evaluation_set.questions]
    return [selection.corpora or evaluation_set.corpora] * len(evaluation_set.questions)


def _check_corpora(evaluation_set: EvaluationSet, selection: Selection) -> None:
    for name in selection.corpora:
        if name not in evaluation_set.corpora:
            known = ", ".join(evaluation_set.corpora) or "none"
            raise InvalidRequest(f"no corpus {name!r} in {evaluation_set.name}; there are: {known}")


def _own_corpora(question: Question, corpus_of: Mapping[str, str]) -> tuple[str, ...]:
    if question.corpus_id:
        return (question.corpus_id,)
    own_documents = question.gold_doc_ids or ((question.context_doc_id,) if question.context_doc_id else ())
    own = tuple(dict.fromkeys(corpus_of[doc_id] for doc_id in own_documents if doc_id in corpus_of))
    if not own:
        raise InvalidRequest(f"question {question.qid!r} names no corpus and no document: leave --own-corpus out")
    return own


def _select(rows: Sequence[_RowT], selection: Selection) -> tuple[_RowT, ...]:
    chosen = [row for row in rows if _matches(dict(row), selection.where)]
    if selection.limit is not None:
        ranked = sorted(range(len(chosen)), key=lambda at: _sample_rank(chosen[at].key))
        chosen = [chosen[at] for at in sorted(ranked[: selection.limit])]
    return tuple(chosen)


def _check_fields(rows: Sequence[Row], where: Iterable[tuple[str, str]]) -> None:
    names = {key for row in rows for key, _ in row}
    for name, _ in where:
        if name not in names:
            raise InvalidRequest(f"no row has a field {name!r}; there are: {', '.join(sorted(names))}")


def _matches(row: Mapping[str, object], where: Iterable[tuple[str, str]]) -> bool:
    return all(name in row and _equals(row[name], wanted) for name, wanted in where)


def _equals(value: object, wanted: str) -> bool:
    if isinstance(value, list | tuple):
        return any(_equals(item, wanted) for item in value)
    return wanted == (value if isinstance(value, str) else json.dumps(value))


def _sample_rank(key: str) -> bytes:
    return hashlib.sha256(f"citeloop-eval-sample|{key}".encode()).digest()
