"""Questions with their retrieved candidates, as the relevance models meet them: embedded, fused, labelled."""

import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from citeloop.models.embedder import Embedder, Vectors
from citeloop.models.evidence import EvidencePassage
from citeloop.retrieval.rank_fusion import reciprocal_rank_fusion
from citeloop.retrieval.relevance_features import CandidateSet, EmbeddedPassage, Matrix, Question, sentence_features
from citeloop.text.sentences import split_sentences
from citeloop.text.words import content_stems

Row = dict[str, Any]
DEPTH = 50
"""Candidates per question, from as many of each of the two lists."""


@dataclass(frozen=True)
class Example:
    """One question with its candidates, best fused first."""

    row: Row
    question: Question
    candidates: list[EmbeddedPassage]
    document_ids: list[str]

    @cached_property
    def laid_out(self) -> CandidateSet:
        return CandidateSet(self.question, self.candidates)

    @cached_property
    def columns(self) -> dict[str, Matrix]:
        return sentence_features(self.laid_out)

    @cached_property
    def in_gold(self) -> Matrix:
        """Per candidate: whether it is a gold document."""
        return np.array(
            [document_id in self.row["gold_doc_ids"] for document_id in self.document_ids], dtype=np.float64
        )

    @cached_property
    def answers(self) -> Matrix:
        """Per sentence: whether it holds a gold answer, or stands among the gold sentences where those are told."""
        told = {" ".join(text.split()) for one in self.row.get("gold_sentences", []) for text in one}
        texts = [text for candidate in self.candidates for text in candidate.passage.sentences]
        if told:
            return np.array([float(any(_within(text, gold) for gold in told)) for text in texts])
        return np.array([float(holds_answer(text, self.row["answers"])) for text in texts])

    def keep(self, order: Sequence[int]) -> "Example":
        """The same question with these candidates, in this order; indexes past the last are passed over."""
        order = [index for index in order if index < len(self.candidates)]
        return Example(
            self.row,
            self.question,
            [self.candidates[index] for index in order],
            [self.document_ids[index] for index in order],
        )


def read_examples(
    data: Path, name: str, embedder: Embedder, cache: Path, wanted: Callable[[Row], bool], language: str | None = None
) -> list[Example]:
    """The wanted questions of the set ``name`` over its whole corpus (of one language where the set has several)."""
    documents = _read(
        data / name / "corpus.jsonl", lambda row: not language or row["corpus_id"] == f"{name}-{language}"
    )
    rows = _read(data / name / "questions.jsonl", lambda row: not language or row["lang"] == language)
    sentences = [[d["text"][a:b] for a, b in split_sentences(d["text"])] for d in documents]
    texts = {
        "Q": [row["question"] for row in rows],
        "E": [f"{document['title']}. {document['text']}" for document in documents],
        "S": [sentence for cut in sentences for sentence in cut],
    }
    vectors = _vectors(cache, f"{name}-{language or 'all'}", embedder, texts)
    cuts = np.split(vectors["S"], np.cumsum([len(cut) for cut in sentences])[:-1])
    passages = {
        d["doc_id"]: EmbeddedPassage(EvidencePassage(d["title"], tuple(cut)), part)
        for d, cut, part in zip(documents, sentences, cuts, strict=True)
        if cut
    }
    search = _Search(documents, vectors["E"])
    examples = []
    for row, vector in zip(rows, vectors["Q"], strict=True):
        if wanted(row):
            ids = [found for found in search.fused(row["question"], vector) if found in passages]
            examples.append(Example(row, Question(row["question"], vector), [passages[i] for i in ids], ids))
    return examples


def article_of(context_doc_id: str | None) -> str:
    """The article of squad2 that a passage is of; empty for none."""
    return (context_doc_id or "").removeprefix("squad2-").rsplit("-", 1)[0]


def taught_articles(context_doc_ids: Iterable[str | None]) -> frozenset[str]:
    """The articles of squad2 that the answer model is fitted on: every second one in alphabetical order."""
    return frozenset(sorted({article_of(context_doc_id) for context_doc_id in context_doc_ids})[::2])


def is_taught(qid: str) -> bool:
    """Whether a question of clapnq is of the half that the answer model is fitted on."""
    return _digest(qid) % 2 == 0


def group_of(name: str, example: Example) -> str:
    """The set and the part of it that is left out together: an article, where questions tell theirs, or a tenth."""
    article = example.row.get("article") or article_of(example.row.get("context_doc_id"))
    return f"{name}:{article or _digest(example.row['qid']) // 2 % 10}"


def _digest(qid: str) -> int:
    return int(hashlib.sha256(qid.encode()).hexdigest(), 16)


def halves_by_article(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """squad2's questions of the taught articles, and those of the others."""
    taught = taught_articles(example.row["context_doc_id"] for example in examples)
    by_half: tuple[list[Example], list[Example]] = ([], [])
    for example in examples:
        by_half[article_of(example.row["context_doc_id"]) not in taught].append(example)
    return by_half


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether one of ``answers`` stands in ``text``, case, punctuation and articles aside."""
    padded = f" {_normalised(text)} "
    return any(wanted and f" {wanted} " in padded for wanted in map(_normalised, answers))


def _normalised(text: str) -> str:
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", re.sub(r"[^\w\s]", " ", text.lower())).split())


def _within(text: str, gold: str) -> bool:
    plain = " ".join(text.split())
    return plain in gold or gold in plain


def _read(path: Path, wanted: Callable[[Row], bool]) -> list[Row]:
    with path.open(encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if wanted(row)]


def _vectors(cache: Path, label: str, embedder: Embedder, texts: dict[str, list[str]]) -> dict[str, Vectors]:
    """Unit vectors of questions (Q), documents with their titles (E) and sentences (S), computed once."""
    version = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]
    path = cache / f"{label}-{version}.npz"
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(path, Q=embedder.embed(texts["Q"]), E=embedder.embed(texts["E"]), S=embedder.embed(texts["S"]))
    with np.load(path) as stored:
        return {key: stored[key] for key in texts}


class _Search:
    """Dense and BM25 (k1 1.2, b 0.75) over a small corpus in memory, fused by reciprocal rank."""

    def __init__(self, documents: list[Row], vectors: Vectors) -> None:
        self._ids = [document["doc_id"] for document in documents]
        self._vectors = vectors
        stems = [Counter(content_stems(f"{document['title']} {document['text']}")) for document in documents]
        lengths = np.array([counted.total() for counted in stems], dtype=np.float64)
        self._norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for index, counted in enumerate(stems):
            for stem, count in counted.items():
                self._postings[stem].append((index, count))

    def fused(self, question: str, vector: Vectors) -> list[str]:
        scores = np.zeros(len(self._ids))
        for stem in set(content_stems(question)) & self._postings.keys():
            index, count = np.array(self._postings[stem]).T
            idf = math.log1p((len(self._ids) - len(index) + 0.5) / (len(index) + 0.5))
            scores[index] += idf * count * 2.2 / (count + self._norm[index])
        lexical = [i for i in np.argsort(-scores, kind="stable")[:DEPTH] if scores[i] > 0]
        dense = np.argsort(-(self._vectors @ vector), kind="stable")[:DEPTH]
        ranked = [[self._ids[i] for i in ranking] for ranking in (dense, lexical)]
        return [hit.id for hit in reciprocal_rank_fusion(ranked)][:DEPTH]
