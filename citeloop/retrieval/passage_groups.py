"""Passages in groups that each fit one prompt, and the group that a branch was given, read by its ids."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from citeloop.knowledge.corpus import Chunk
from citeloop.retrieval.context_unit import ContextUnits, Grown, context_passage
from citeloop.retrieval.joined_chunks import join_chunks
from citeloop.retrieval.passages import PassageReader
from citeloop.state.config import ContextUnit
from citeloop.state.graph_state import Candidate, GroupedCandidate, Passage
from citeloop.state.models import UserContext

Group = list[Grown]


@dataclass(frozen=True, slots=True)
class PassageGroups:
    """Cuts and reads groups. Blocking; corpora are opened as the caller, each time."""

    reader: PassageReader

    def cut(
        self,
        chunks: Sequence[Chunk],
        unit: ContextUnit,
        budget: int,
        *,
        excluded: Collection[str],
        caller: UserContext,
        most: int,
    ) -> list[Group]:
        """``chunks`` (best first) in groups of ``budget`` tokens, ``most`` groups at the most, the best in the first.

        A chunk too long for a whole prompt, or of ``excluded``, is in none; what a grown passage holds, in no other.
        """
        units, groups, closed = ContextUnits(self.reader), list[Group](), set(excluded)
        rest = [chunk for chunk in chunks if chunk.id not in closed]
        while len(groups) < most and (group := units.fit(rest, unit, budget, closed, caller)):
            groups.append(group)
            closed.update(member for one in group for member in one.members)
            rest = [chunk for chunk in rest if chunk.id not in closed]
        return groups

    def read(self, candidates: Sequence[GroupedCandidate], caller: UserContext) -> list[Passage]:
        """The passages of a group, numbered from 1; what left the store since it was cut is left out."""
        wanted = [
            Candidate(chunk_id=member, corpus=one["corpus"], document_uri=one["document_uri"], score=one["score"])
            for one in candidates
            for member in one["members"]
        ]
        chunks, _ = self.reader.read_with_sentences(wanted, caller)
        there = [one for one in candidates if one["chunk_id"] in chunks]
        return [
            context_passage(number, _joined(one, chunks), one["score"], one.get("origin", "question"))
            for number, one in enumerate(there, start=1)
        ]


def _joined(candidate: GroupedCandidate, chunks: dict[str, Chunk]) -> Grown:
    members = [chunks[member] for member in candidate["members"] if member in chunks]
    members.sort(key=lambda chunk: chunk.position)
    found = chunks[candidate["chunk_id"]]
    return Grown(join_chunks(found, members), [member.id for member in members])
