"""Typed relations as edges of the walk: from one end, by what a chunk states of both, to what the other end names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citeloop.knowledge.entities import MENTION, SUBJECT, EntityCounts, EntityReader
from citeloop.knowledge.relations import End, Relation
from citeloop.retrieval.entity_links import RARITY, RELATED, EntityLinks, KnownEntity, Step, rarity
from citeloop.text.entity_names import match_names, name_windows
from citeloop.text.words import content_stems

_READ_OF_CHUNK = _READ_OF_KIND = 50
_FOLLOWED = 8
"""Relations that are followed from one start: those nearest to the question."""
_LEAST_SHARED, _ENDING = 4, 3
"""Letters that two words have to share at their beginning, and that the shorter may have beyond them, to count as forms
of one: "written" and "writer"."""

_UNKNOWN = KnownEntity(EntityCounts(0, 0), ())
"""What only relations name."""


class _Edge(NamedTuple):
    relation: Relation
    corpus: str
    far: End
    degree: int
    """Relations of the near end, counted up to what makes it a hub."""
    match: float
    """Share of the relation's words that the question holds."""


@dataclass(frozen=True, slots=True)
class RelationLinks:
    """The relations of some corpora as edges between chunks, seen from one question. Blocking.

    A relation leads to the chunk that states it and to those of its far end, in any of the corpora open to the caller.
    """

    links: EntityLinks
    readers: Mapping[str, EntityReader]
    """Of the corpora that hold relations."""
    named: frozenset[str]
    """Ends of relations that the question names, by canonical forms."""
    asked: frozenset[str]
    """Stems of its words."""

    @classmethod
    def over(cls, links: EntityLinks, question: str) -> "RelationLinks":
        """The relations of the corpora of ``links``."""
        readers = {name: reader for name, reader in links.readers.items() if reader.relations.has_any()}
        if not readers:
            return cls(links, readers, frozenset(), frozenset())
        windows = name_windows(question, capitalised=False)
        forms = {name.form for runs in windows for name in runs}
        ends = set().union(*(reader.relations.ends(forms) for reader in readers.values()))
        named = frozenset(name.form for name in match_names(windows, ends))
        return cls(links, readers, named, frozenset(content_stems(question)))

    def from_question(self) -> list[Step]:
        """The steps by relations of what the question names, in any case; best first."""
        return _best_first(step for form in sorted(self.named) for step in self._steps(self._edges_of(form)))

    def from_chunk(self, chunk_id: str, corpus: str) -> list[Step]:
        """The steps by what the chunk states, and by relations of what it is about, as far as the question asks for
        such and does not itself name where they lead; best first."""
        if not self.readers:
            return []
        subjects = self.links.readers[corpus].subjects_of(chunk_id)
        edges = [*self._stated_in(chunk_id, corpus), *(edge for form in subjects for edge in self._edges_of(form))]
        steps = self._steps([edge for edge in edges if edge.match and edge.far.form not in self.named])
        return _best_first(step for step in steps if step.chunk_id != chunk_id)

    def _stated_in(self, chunk_id: str, corpus: str) -> Iterator[_Edge]:
        """From the chunk to both ends of what it states."""
        if corpus in self.readers:
            for relation in self.readers[corpus].relations.stated_in(chunk_id, _READ_OF_CHUNK):
                for end in (relation.subject, relation.object):
                    yield _Edge(relation, corpus, end, 1, self._match(relation.relation))

    def _edges_of(self, form: str) -> list[_Edge]:
        """From the entity to what it is related to; of a hub only by relations that the question asks for."""
        hub = self.links.hub
        found = [(name, one) for name, each in self.readers.items() for one in each.relations.of_entity(form, hub)]
        degree = len(found)
        if degree >= hub:
            found = list(self._asked_of(form))
        return [_Edge(one, name, _far(one, form), degree, self._match(one.relation)) for name, one in found]

    def _asked_of(self, form: str) -> Iterator[tuple[str, Relation]]:
        """Those relations of a hub whose words the question holds, wherever among its many, and their corpora."""
        for name, reader in self.readers.items():
            matches = {kind: self._match(kind) for kind in reader.relations.kinds_of(form, self.links.hub)}
            asked = sorted((kind for kind in matches if matches[kind]), key=lambda kind: (-matches[kind], kind))
            for kind in asked[:_FOLLOWED]:
                yield from ((name, one) for one in reader.relations.of_kind(form, kind, _READ_OF_KIND))

    def _steps(self, edges: Sequence[_Edge]) -> Iterator[Step]:
        """The steps by those of the edges that are nearest to the question."""
        cosines = self._cosines(edges)
        there = [edge for edge in edges if edge.relation.chunk_id in cosines]  # another process may write meanwhile
        near = sorted(there, key=lambda edge: (-edge.match - cosines[edge.relation.chunk_id], edge.relation))
        followed = near[:_FOLLOWED]
        known = self.links.know(edge.far.form for edge in followed)
        for edge in followed:
            stating = edge.relation.chunk_id
            far = known.get(edge.far.form, _UNKNOWN)
            for chunk_id, corpus, cosine in [(stating, edge.corpus, cosines[stating]), *self._chunks_of(edge.far, far)]:
                score = self._score(edge, cosine, far)
                yield Step(chunk_id, corpus, RELATED, edge.far.spelling, score, str(edge.relation), edge.match)

    def _score(self, edge: _Edge, cosine: float, far: KnownEntity) -> float:
        return (cosine + edge.match) / 2 + RARITY * rarity(max(edge.degree, sum(far.counts)), self.links.hub)

    def _chunks_of(self, end: End, entity: KnownEntity) -> list[tuple[str, str, float]]:
        """Those about the entity; where there are none, and unless it is a hub, those that mention it; the nearest to
        the question."""
        if entity.counts.subject_of:
            return self.links.nearest(end.form, SUBJECT, entity.corpora)
        is_hub = entity.counts.mentioned_in >= self.links.hub
        return [] if is_hub else self.links.nearest(end.form, MENTION, entity.corpora)

    def _cosines(self, edges: Iterable[_Edge]) -> dict[str, float]:
        """Of each chunk that states one of the relations, to the question."""
        ids: dict[str, dict[str, None]] = {}
        for edge in edges:
            ids.setdefault(edge.corpus, {})[edge.relation.chunk_id] = None
        found = [self.readers[corpus].chunks_by_id(list(of_corpus)) for corpus, of_corpus in ids.items()]
        return {
            chunk_id: cosine
            for chunks in found
            for chunk_id, cosine in zip(chunks.ids, (chunks.vectors @ self.links.question).tolist(), strict=True)
        }

    def _match(self, relation: str) -> float:
        stems = set(content_stems(relation))
        held = sum(any(_is_akin(stem, asked) for asked in self.asked) for stem in stems)
        return held / len(stems) if stems else 0.0


def _best_first(steps: Iterable[Step]) -> list[Step]:
    return sorted(steps, key=lambda step: (-step.score, step.chunk_id))


def _far(relation: Relation, near: str) -> End:
    return relation.object if relation.subject.form == near else relation.subject


def _is_akin(one: str, other: str) -> bool:
    """Whether two stems are forms of one word, by their beginnings."""
    shared = max(_LEAST_SHARED, min(len(one), len(other)) - _ENDING)
    return one == other or (len(one) >= shared and one[:shared] == other[:shared])
