"""The walk over entities: from what the question names and its best hits, hop by hop, to what those name."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from citeloop.knowledge.entities import MENTION, SUBJECT
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import Embedder
from citeloop.retrieval.entity_links import RELATED, EntityLinks, Step
from citeloop.retrieval.rank_fusion import reciprocal_rank_fusion
from citeloop.retrieval.relation_links import RelationLinks
from citeloop.state.graph_state import Candidate
from citeloop.state.models import UserContext

_WEIGHT = {SUBJECT: 1.0, MENTION: 0.5, RELATED: 1.0}
"""What a chunk counts that is about an entity, one that mentions it, and one that a relation leads to."""
_DECAY = 0.5
"""What a hop counts of the hop before it."""
_NOT_ASKED = 0.5
"""What a relation that the question does not ask for counts of a step by name."""
_STARTS_OF_NEXT_HOP = 3
FUSION_K = 2
"""Constant of reciprocal rank fusion where few places are shared out: small, so that each list brings its first."""


@dataclass(frozen=True, slots=True)
class WalkBounds:
    """What bounds the cost of a walk, whatever the size of the corpora."""

    hops: int
    starts: int
    """Chunks that the first hop starts from."""
    hub: int
    """Chunks from which on an entity is a hub."""
    most: int
    """Chunks returned of each kind."""


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, each list best first."""

    named: list[str]
    """Chunks about what the question itself names."""
    reached: list[str]
    """Chunks that the entities of other chunks lead to."""
    corpus_of: dict[str, str]
    entities: dict[str, list[str]]
    """For each of the chunks what leads to it, as it is spelt where the step starts."""
    relations: dict[str, list[str]] = field(default_factory=dict)
    """For the chunks that relations lead to, those relations: ``subject -relation-> object``."""


class _Start(NamedTuple):
    chunk_id: str
    weight: float


@dataclass(frozen=True, slots=True)
class EntityWalker:
    """Walks the corpora that are open to the caller; they are opened anew with each walk.

    Blocking: call it from a worker thread. No model but the question's embedding, which the search shares.
    """

    store: HierarchicalKnowledgeStore
    embedder: Embedder

    def walk(
        self,
        question: str,
        found: Sequence[Candidate],
        corpora: Sequence[str] | None,
        caller: UserContext,
        bounds: WalkBounds,
    ) -> Walk:
        """Start at what ``question`` names and at the best of ``found``, and take ``bounds.hops`` hops.

        The neighbours of each start are ranked by themselves, and those rankings joined by rank: every start, above all
        everything that the question names, brings its best neighbour forward.

        Raises:
            CorpusNotFound: one of ``corpora`` is missing or denied.
        """
        opened = self.store.open_corpora(corpora, caller)
        by_name, vector = {corpus.name: corpus for corpus in opened}, self.embedder.embed([question])[0]
        with self.store.reading_entities(opened) as readers:
            links = EntityLinks(self.store, by_name, readers, vector, bounds.hub)
            return _Route(links, RelationLinks.over(links, question), bounds).take(question, found)


@dataclass(slots=True)
class _Route:
    """One walk under way."""

    links: EntityLinks
    relations: RelationLinks
    bounds: WalkBounds
    steps: list[Step] = field(default_factory=list)
    totals: dict[int, defaultdict[str, float]] = field(default_factory=lambda: {r: defaultdict(float) for r in _WEIGHT})

    def take(self, question: str, found: Sequence[Candidate]) -> Walk:
        asked = self.links.from_question(question)
        related = self.relations.from_question()
        self.steps += asked
        named = list(dict.fromkeys(step.chunk_id for step in asked))[: self.bounds.most]
        places = {step.chunk_id: step.corpus for step in asked} | {c["chunk_id"]: c["corpus"] for c in found}
        starts = list(dict.fromkeys([*named, *(candidate["chunk_id"] for candidate in found)]))[: self.bounds.starts]
        frontier = [_Start(id_, 1.0 if id_ in named else 1 / (1 + rank)) for rank, id_ in enumerate(starts)]
        visited: set[str] = set()
        for hop in range(self.bounds.hops):
            visited.update(start.chunk_id for start in frontier)
            frontier = self._hop(frontier, places, _DECAY**hop, set(named), () if hop else related)
            frontier = [start for start in frontier if start.chunk_id not in visited][:_STARTS_OF_NEXT_HOP]
        return self._walk(named, places)

    def _hop(
        self,
        frontier: Sequence[_Start],
        places: dict[str, str],
        decay: float,
        named: set[str],
        from_question: Sequence[Step],
    ) -> list[_Start]:
        """Count the steps from each start; the chunks they lead to, best first, are where the next hop could start."""
        gained: defaultdict[str, float] = defaultdict(float)
        for weight, found in [(1.0, from_question), *self._steps_from(frontier, places)]:
            steps = [step for step in found if step.chunk_id not in named]
            self.steps += steps
            for rank, step in _ranked(steps):
                gain = _share(step, decay) * weight / (1 + rank)
                self.totals[step.role][step.chunk_id] += gain
                gained[step.chunk_id] += gain * _WEIGHT[step.role]
            places |= {step.chunk_id: step.corpus for step in steps}
        return [_Start(chunk_id, 1 / (1 + rank)) for rank, chunk_id in enumerate(_best(gained))]

    def _steps_from(self, frontier: Sequence[_Start], places: Mapping[str, str]) -> list[tuple[float, list[Step]]]:
        """For each start its weight and the steps from it, each role's best first."""
        by_names = self.links.from_chunks({start.chunk_id: places[start.chunk_id] for start in frontier})
        return [
            (start.weight, by_names[start.chunk_id] + self.relations.from_chunk(start.chunk_id, places[start.chunk_id]))
            for start in frontier
            if start.chunk_id in by_names
        ]

    def _walk(self, named: list[str], places: Mapping[str, str]) -> Walk:
        by_role = [_best(self.totals[role]) for role in _WEIGHT]
        fused = reciprocal_rank_fusion(by_role, FUSION_K, list(_WEIGHT.values()))
        reached = [hit.id for hit in fused][: self.bounds.most]
        entities: dict[str, dict[str, None]] = {chunk_id: {} for chunk_id in (*named, *reached)}
        relations: dict[str, dict[str, None]] = {}
        for step in self.steps:
            if step.chunk_id in entities:
                entities[step.chunk_id].setdefault(step.entity)
                if step.path:
                    relations.setdefault(step.chunk_id, {}).setdefault(step.path)
        corpus_of = {chunk_id: places[chunk_id] for chunk_id in entities}
        return Walk(named, reached, corpus_of, _lists(entities), _lists(relations))


def _lists(told: Mapping[str, Mapping[str, None]]) -> dict[str, list[str]]:
    return {chunk_id: list(names) for chunk_id, names in told.items()}


def _share(step: Step, decay: float) -> float:
    """What a step counts: less with each hop, unless it is by a relation that the question asks for."""
    unasked = decay * _NOT_ASKED if step.role == RELATED else decay
    return step.match + (1 - step.match) * unasked


def _ranked(steps: Iterable[Step]) -> Iterator[tuple[int, Step]]:
    """The steps of each role with their rank, from 1; of several to one chunk the best counts."""
    ranks = dict.fromkeys(_WEIGHT, 0)
    met: set[tuple[int, str]] = set()
    for step in steps:
        if (step.role, step.chunk_id) not in met:
            met.add((step.role, step.chunk_id))
            ranks[step.role] += 1
            yield ranks[step.role], step


def _best(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))
