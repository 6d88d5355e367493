"""The corpora of a set, indexed once and kept."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from citeloop.evaluation.sets import Document, EvaluationSet

_CUT_AND_STORED_BY = (
    "knowledge",
    "text",
    "retrieval/chroma_client.py",
    "retrieval/chroma_folder.py",
    "retrieval/dense.py",
    "retrieval/lexical.py",
)


def index_home(cache: Path, evaluation_set: EvaluationSet, embedding_model: str) -> Path:
    """The home folder of the set's index under ``cache``.

    Another content, embedding model, or version of the code that cuts and stores documents gives another home: figures
    never come from an index that the present code would not make.
    """
    key = hashlib.sha256("|".join((_content_hash(evaluation_set), embedding_model, _code_version())).encode())
    return cache / f"{evaluation_set.name}-{key.hexdigest()[:16]}"


def ensure_indexed(
    home: Path,
    evaluation_set: EvaluationSet,
    corpora: Iterable[str],
    index: Callable[[Path, str], None],
) -> None:
    """Index the corpora that are not in ``home`` yet; ``index(file, corpus_name)`` does one, a JSONL file, as a whole.

    A run that was interrupted is taken up again: a corpus counts as indexed when its mark is written, at the end.
    """
    for corpus in corpora:
        folder = home / "sources" / hashlib.sha256(corpus.encode()).hexdigest()[:16]
        mark = folder / "indexed"
        if mark.exists():
            continue
        documents = [document for document in evaluation_set.documents if document.corpus_id == corpus]
        index(_write_documents(folder, documents), corpus)
        mark.write_text(f"{corpus}\n", encoding="utf-8")


def _write_documents(folder: Path, documents: Sequence[Document]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "documents.jsonl"
    rows = (json.dumps(document.model_dump(include={"doc_id", "title", "text"})) for document in documents)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def _content_hash(evaluation_set: EvaluationSet) -> str:
    digest = hashlib.sha256()
    for document in evaluation_set.documents:
        digest.update(document.model_dump_json().encode())
    return digest.hexdigest()


def _code_version() -> str:
    digest = hashlib.sha256()
    for name in _CUT_AND_STORED_BY:
        for source in _sources(files("citeloop") / name):
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _sources(place: Traversable) -> Iterable[Traversable]:
    if not place.is_dir():
        yield place
        return
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir() or entry.name.endswith((".py", ".sql")):
            yield from _sources(entry)
