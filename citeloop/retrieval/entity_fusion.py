"""What search found and what the walk over entities found, in one ranking."""

from collections.abc import Iterable, Mapping, Sequence

from citeloop.retrieval.entity_walk import FUSION_K, Walk
from citeloop.retrieval.rank_fusion import reciprocal_rank_fusion
from citeloop.state.graph_state import Candidate


def fuse_walk(
    found: Sequence[Candidate], added: Iterable[Candidate], walk: Walk, vector_weight: float
) -> list[Candidate]:
    """``found`` and ``added`` in one order, by weighted reciprocal rank (ADR-031, merge of vector and graph).

    What search found, and chunks about what the question itself names, share ``vector_weight``; what the walk reached
    from there has the rest. Ids of the walk that are in neither list are passed over.
    """
    known = {candidate["chunk_id"]: candidate for candidate in (*added, *found)}
    direct = [[candidate["chunk_id"] for candidate in found], [id_ for id_ in walk.named if id_ in known]]
    direct = [ids for ids in direct if ids]
    reached = [id_ for id_ in walk.reached if id_ in known]
    weights = [*(vector_weight / len(direct) for _ in direct), 1 - vector_weight]
    fused = reciprocal_rank_fusion([*direct, reached], FUSION_K, weights)
    return [known[hit.id] for hit in fused]


def entities_of(walk: Walk, kept: Iterable[Candidate]) -> dict[str, list[str]]:
    """For each entity, as it is spelt where the walk met it, the ``kept`` candidates that it led to, best first."""
    return _led_to(walk.entities, kept)


def relations_of(walk: Walk, kept: Iterable[Candidate]) -> dict[str, list[str]]:
    """For each relation that the walk followed, ``subject -relation-> object``, the ``kept`` candidates it led to."""
    return _led_to(walk.relations, kept)


def _led_to(told: Mapping[str, Iterable[str]], kept: Iterable[Candidate]) -> dict[str, list[str]]:
    led_to: dict[str, list[str]] = {}
    for candidate in kept:
        for what in told.get(candidate["chunk_id"], ()):
            led_to.setdefault(what, []).append(candidate["chunk_id"])
    return led_to
