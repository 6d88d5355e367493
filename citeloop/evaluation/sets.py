"""Evaluation sets: folders of JSONL files with known answers.

A set holds ``corpus.jsonl`` with ``questions.jsonl``, or ``claims.jsonl``, or ``intents.jsonl``, or several of them.
Rows may carry any further fields; those can be selected on (``--where``).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from citeloop.errors import InvalidRequest

_FILES = ("corpus.jsonl", "questions.jsonl", "claims.jsonl", "intents.jsonl")


class Document(BaseModel):
    """A line of ``corpus.jsonl``."""

    model_config = ConfigDict(frozen=True)

    doc_id: str = Field(min_length=1)
    title: str = ""
    text: str
    corpus_id: str = Field(default="documents", min_length=1)


class Row(BaseModel):
    """A line that is measured; fields that citeloop does not know are kept for selection."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @property
    def key(self) -> str:
        """What tells the row from the others of its file."""
        raise NotImplementedError


class Turn(BaseModel):
    """What was said before a question."""

    model_config = ConfigDict(frozen=True)

    role: Literal["user", "assistant"]
    text: str


class Question(Row):
    """A line of ``questions.jsonl``."""

    qid: str = Field(min_length=1)
    question: str = Field(min_length=1)
    type: str = ""
    answers: tuple[str, ...] = ()
    """Gold strings: any of them will do."""
    gold_doc_ids: tuple[str, ...] = ()
    """The documents that together hold the answer; none for a question that cannot be answered."""
    context_doc_id: str | None = None
    """The document the question was written against, also when it does not answer it."""
    corpus_id: str | None = None
    history: tuple[Turn, ...] = ()
    """The turns before a question that was asked in a conversation, oldest first."""

    @property
    def key(self) -> str:
        return self.qid

    @property
    def unanswerable(self) -> bool:
        """Whether a refusal is the right answer."""
        return self.type == "unanswerable"


class LabelledClaim(Row):
    """A line of ``claims.jsonl``: does the source support all of the claim?"""

    id: str = Field(min_length=1)
    claim: str
    source: str
    supported: bool

    @property
    def key(self) -> str:
        return self.id


class LabelledIntent(Row):
    """A line of ``intents.jsonl``."""

    question: str = Field(min_length=1)
    label: str
    labels: tuple[str, ...] = ()
    """All labels of a question that bears several."""

    @property
    def key(self) -> str:
        return self.question

    @property
    def accepted(self) -> tuple[str, ...]:
        """The labels that count as right."""
        return self.labels or (self.label,)


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """What a set's folder holds, read and checked."""

    name: str
    sha256: str
    """Hash of the files read: equal hashes, equal sets."""
    documents: tuple[Document, ...] = ()
    questions: tuple[Question, ...] = ()
    claims: tuple[LabelledClaim, ...] = ()
    intents: tuple[LabelledIntent, ...] = ()

    @property
    def corpora(self) -> tuple[str, ...]:
        """Names of the corpora, in the order of the file."""
        return tuple(dict.fromkeys(document.corpus_id for document in self.documents))


def read_set(folder: Path) -> EvaluationSet:
    """Read the set in ``folder``.

    Raises:
        InvalidRequest: no such folder, no file of a set in it, or a bad line; the message names file, line and field.
    """
    if not folder.is_dir():
        raise InvalidRequest(f"no such folder: {folder}; give a folder that holds {', '.join(_FILES)} or some of them")
    found = [name for name in _FILES if (folder / name).is_file()]
    if not found or ("corpus.jsonl" in found) != ("questions.jsonl" in found):
        raise InvalidRequest(
            f"{folder} is no evaluation set: it needs corpus.jsonl with questions.jsonl, claims.jsonl or intents.jsonl"
        )
    documents = _read(folder / "corpus.jsonl", Document, lambda row: row.doc_id)
    return EvaluationSet(
        name=folder.resolve().name,
        sha256=_hash_files(folder / name for name in found),
        documents=documents,
        questions=_check_gold(_read(folder / "questions.jsonl", Question, lambda row: row.key), documents),
        claims=_read(folder / "claims.jsonl", LabelledClaim, lambda row: row.key),
        intents=_read(folder / "intents.jsonl", LabelledIntent),
    )


_Model = TypeVar("_Model", bound=BaseModel)


def _read(path: Path, model: type[_Model], unique: Callable[[_Model], str] | None = None) -> tuple[_Model, ...]:
    if not path.is_file():
        return ()
    rows: list[_Model] = []
    seen: set[str] = set()
    for number, row in _parse_lines(path, model):
        key = unique(row) if unique else str(number)
        if key in seen:
            raise InvalidRequest(f"{path} line {number}: id {key!r} stands twice; ids must be unique within the file")
        seen.add(key)
        rows.append(row)
    if not rows:
        raise InvalidRequest(f"{path} is empty: give it one JSON object a line")
    return tuple(rows)


def _parse_lines(path: Path, model: type[_Model]) -> Iterator[tuple[int, _Model]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield number, model.model_validate_json(line)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                field = ".".join(str(part) for part in first["loc"])
                where = f"{path} line {number}" + (f", field {field}" if field else "")
                raise InvalidRequest(f"{where}: {first['msg']}") from None


def _check_gold(questions: Sequence[Question], documents: Sequence[Document]) -> tuple[Question, ...]:
    known = {document.doc_id for document in documents}
    for question in questions:
        for doc_id in question.gold_doc_ids:
            if doc_id not in known:
                raise InvalidRequest(f"question {question.qid!r}: gold document {doc_id!r} is not in corpus.jsonl")
    return tuple(questions)


def _hash_files(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\n{path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
