"""From a text to the entities it names, and from an entity to its chunks, over the corpora open to one caller."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from citeloop.knowledge.corpus import Chunk, ChunkSentences, OpenCorpus
from citeloop.knowledge.entities import MENTION, SUBJECT, EntityCounts, EntityReader
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Vectors
from citeloop.text.entity_names import Name, find_names, match_names, name_windows

RELATED = 2
"""Role of a step by a relation, beside those of an entity for a chunk."""
_READ_OF_ENTITY = 50
"""Chunks of an entity that are looked at, in each corpus."""
_KEPT_OF_ENTITY = {SUBJECT: 5, MENTION: 2}
"""Chunks of an entity that a step leads to: those nearest to the question."""
RARITY = 0.2
"""How far the rarest entity is ahead of a hub, beside similarities in [-1, 1]."""


class Step(NamedTuple):
    """An edge of the walk: from a text, by an entity, to a chunk."""

    chunk_id: str
    corpus: str
    role: int
    """``SUBJECT`` where the chunk is about the entity, ``MENTION`` where it mentions it, ``RELATED`` where a relation
    leads there."""
    entity: str
    """As it is spelt where the step starts."""
    score: float
    """Grows with the nearness of chunk and starting sentence to the question, and with the entity's rarity."""
    path: str = ""
    """The relation that leads there: ``subject -relation-> object``."""
    match: float = 0.0
    """Share of that relation's words that the question holds."""


class _NamesOf(NamedTuple):
    """What could be a name in a text that capitalises them."""

    windows: list[list[Name]]
    by_look: list[Name]

    @classmethod
    def text(cls, text: str) -> "_NamesOf":
        return cls(name_windows(text, capitalised=True), find_names(text))

    def forms(self) -> Iterator[str]:
        yield from (name.form for names in (*self.windows, self.by_look) for name in names)


class KnownEntity(NamedTuple):
    """An entity's counts over all corpora, and the corpora that have it: only they are read for its chunks."""

    counts: EntityCounts
    corpora: tuple[str, ...]


class _Named(NamedTuple):
    name: Name
    role: int
    nearness: float
    """Cosine of the sentence that names it and the question; 0 for the question itself."""


@dataclass(frozen=True, slots=True)
class EntityLinks:
    """The entities of some corpora as edges between chunks, seen from one question. Blocking."""

    store: HierarchicalKnowledgeStore
    corpora: Mapping[str, OpenCorpus]
    readers: Mapping[str, EntityReader]
    question: Vectors
    """Unit vector ``(dimension,)``."""
    hub: int
    """Chunks from which on an entity is a hub: what merely mentions it is not followed."""

    def from_question(self, text: str) -> list[Step]:
        """The steps to chunks about what the question names, in any case; best first."""
        windows = name_windows(text, capitalised=False)
        known = self.know(name.form for runs in windows for name in runs)
        names = [_Named(name, SUBJECT, 0.0) for name in match_names(windows, _subjects(known))]
        return self._steps(names, known)

    def from_chunks(self, chunks: Mapping[str, str]) -> dict[str, list[Step]]:
        """For each chunk, given with its corpus, the steps from it, best first; none from one that left the store."""
        read = self._read(chunks)
        texts = {chunk_id: _NamesOf.text(chunk.text) for chunk_id, (chunk, _) in read.items()}
        known = self.know(form for names in texts.values() for form in names.forms())
        steps: dict[str, list[Step]] = {}
        for chunk_id, (_, sentences) in read.items():
            nearness = _Nearness(sentences, self.question)
            named = [_Named(name, role, nearness(name.start)) for name, role in self._followed(texts[chunk_id], known)]
            steps[chunk_id] = [step for step in self._steps(named, known) if step.chunk_id != chunk_id]
        return steps

    def _followed(self, names: "_NamesOf", known: Mapping[str, KnownEntity]) -> Iterator[tuple[Name, int]]:
        """The names that lead on, with the role that they lead by: to chunks about them; unless hubs, to mentions."""
        for name in match_names(names.windows, _subjects(known)):
            yield name, SUBJECT
        for name in names.by_look:
            if name.form in known and 1 < sum(known[name.form].counts) < self.hub:
                yield name, MENTION

    def _read(self, chunks: Mapping[str, str]) -> dict[str, tuple[Chunk, ChunkSentences]]:
        found: dict[str, tuple[Chunk, ChunkSentences]] = {}
        for name, corpus in self.corpora.items():
            ids = [chunk_id for chunk_id, of in chunks.items() if of == name]
            found |= {pair[0].id: pair for pair in self.store.read_chunks_with_sentences(corpus, ids)} if ids else {}
        return {chunk_id: found[chunk_id] for chunk_id in chunks if chunk_id in found}

    def know(self, forms: Iterable[str]) -> dict[str, KnownEntity]:
        """The known ones among ``forms``."""
        asked = set(forms)
        known: dict[str, KnownEntity] = {}
        for corpus, reader in self.readers.items():
            for form, counts in reader.known(asked, self.hub).items():
                before, corpora = known.get(form, KnownEntity(EntityCounts(0, 0), ()))
                known[form] = KnownEntity(EntityCounts(*map(sum, zip(before, counts, strict=True))), (*corpora, corpus))
        return known

    def _steps(self, names: Iterable[_Named], known: Mapping[str, KnownEntity]) -> list[Step]:
        """By falling score; of each entity those to the chunks nearest to the question."""
        steps: list[Step] = []
        for name, role, nearness in names:
            counts, corpora = known[name.form]
            bonus = RARITY * rarity(sum(counts), self.hub)
            steps += [
                Step(chunk_id, corpus, role, name.spelling, (cosine + nearness) / 2 + bonus)
                for chunk_id, corpus, cosine in self.nearest(name.form, role, corpora)
            ]
        return sorted(steps, key=lambda step: (-step.score, step.chunk_id))

    def nearest(self, form: str, role: int, corpora: Iterable[str]) -> list[tuple[str, str, float]]:
        """Id, corpus and cosine to the question of those of the entity's chunks that are nearest to it."""
        near: list[tuple[str, str, float]] = []
        for corpus in corpora:
            found = self.readers[corpus].chunks(form, role, _READ_OF_ENTITY)
            cosines = (found.vectors @ self.question).tolist()
            near += [(chunk_id, corpus, cosine) for chunk_id, cosine in zip(found.ids, cosines, strict=True)]
        return sorted(near, key=lambda found: (-found[2], found[0]))[: _KEPT_OF_ENTITY[role]]


def rarity(chunks: int, hub: int) -> float:
    """1 for what leads to one chunk, falling to 0 for a hub."""
    return max(0.0, 1 - math.log(chunks) / math.log(hub))


def _subjects(known: Mapping[str, KnownEntity]) -> set[str]:
    return {form for form, entity in known.items() if entity.counts.subject_of}


class _Nearness:
    """The cosine to the question of the sentence at a place of a chunk's text; 0 between sentences."""

    def __init__(self, sentences: ChunkSentences, question: Vectors) -> None:
        self._spans = sentences.spans
        self._cosines = (np.asarray(sentences.vectors, np.float32) @ question).tolist() if sentences.spans else []

    def __call__(self, place: int) -> float:
        at = (cosine for (start, end), cosine in zip(self._spans, self._cosines, strict=True) if start <= place < end)
        return next(at, 0.0)
