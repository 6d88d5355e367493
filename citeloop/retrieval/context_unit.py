"""Passages of a prompt: chunks as they were found, or grown to their sections or documents (ADR-031, Long RAG)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal, NamedTuple

from citeloop.knowledge.corpus import Chunk
from citeloop.prompts.grounded_answer import render_document
from citeloop.retrieval.context_budget import fit_in_budget
from citeloop.retrieval.joined_chunks import REACH, join_chunks
from citeloop.retrieval.passages import PassageReader, numbered_passage
from citeloop.state.config import ContextUnit
from citeloop.state.graph_state import Candidate, Passage
from citeloop.state.models import QueryOrigin, UserContext
from citeloop.text.tokens import count_tokens


class Grown(NamedTuple):
    """A passage: its text under the id of the chunk it was grown from, and the ids of all chunks in it."""

    chunk: Chunk
    members: list[str]


@dataclass(frozen=True, slots=True)
class ContextUnits:
    """Fits chunks, as they are or grown, into a token budget. Blocking; corpora are opened as the caller, each time."""

    reader: PassageReader

    def fit(
        self, chunks: Sequence[Chunk], unit: ContextUnit, budget: int, excluded: Collection[str], caller: UserContext
    ) -> list[Grown]:
        """Each of ``chunks`` (best first) that still fits, as it is or grown to its ``unit``."""
        if unit != "chunk":
            return self.grow(chunks, unit, budget, excluded, caller)
        taken = fit_in_budget([prompt_tokens(chunk) for chunk in chunks], budget)
        return [Grown(chunks[index], [chunks[index].id]) for index in taken]

    def grow(
        self,
        chunks: Sequence[Chunk],
        unit: Literal["section", "document"],
        budget: int,
        excluded: Collection[str],
        caller: UserContext,
    ) -> list[Grown]:
        """A passage for each of ``chunks`` (best first) that still fits and is in none before it.

        Each takes its unit as a whole where that fits into half of what is left of ``budget``, so that several sources
        stand side by side; else as much around the chunk as does. Chunks of ``excluded`` are never grown over.
        """
        grown: list[Grown] = []
        closed = set(excluded)
        for chunk in chunks:
            own = prompt_tokens(chunk)
            if chunk.id in closed or own > budget:
                continue
            members = _window(chunk, self._unit_of(chunk, unit, caller), max(own, budget // 2), closed)
            passage = join_chunks(chunk, members)
            budget -= prompt_tokens(passage)
            grown.append(Grown(passage, [member.id for member in members]))
            closed.update(grown[-1].members)
        self._prime(grown, caller)
        return grown

    def _unit_of(self, chunk: Chunk, unit: Literal["section", "document"], caller: UserContext) -> list[Chunk]:
        """The other chunks of the chunk's unit, in reading order."""
        store = self.reader.store
        corpus = store.open_corpus(chunk.corpus, caller)
        if unit == "section":
            return store.section_chunks(corpus, [chunk.id])
        return store.neighbours(corpus, [chunk.id], radius=REACH)

    def _prime(self, grown: Sequence[Grown], caller: UserContext) -> None:
        """Validation judges the sentences of all members: their stored vectors save embedding them again."""
        wanted = [
            Candidate(chunk_id=member, corpus=passage.corpus, document_uri=passage.uri, score=0.0)
            for passage, members in grown
            for member in members
        ]
        self.reader.read_with_sentences(wanted, caller)


def context_passage(number: int, one: Grown, score: float, origin: QueryOrigin) -> Passage:
    """What was fitted, as it stands before the generator."""
    passage = numbered_passage(number, one.chunk, score)
    passage["origin"] = origin
    if len(one.members) > 1:
        passage["members"] = one.members
    return passage


def prompt_tokens(chunk: Chunk) -> int:
    """What the chunk takes in a prompt, its frame included."""
    return count_tokens(render_document(99, chunk.title, chunk.heading_path, chunk.text))


def _window(found: Chunk, others: Sequence[Chunk], limit: int, closed: Collection[str]) -> list[Chunk]:
    """``found`` with what stands around it, a chunk after and a chunk before in turns, up to ``limit`` tokens."""
    before = [chunk for chunk in reversed(others) if chunk.position < found.position]
    after = [chunk for chunk in others if chunk.position > found.position]
    sides = [list(takewhile(lambda chunk: chunk.id not in closed, side)) for side in (after, before)]
    window = [found]
    while any(sides):
        for side in sides:
            if side:
                wider = sorted([*window, side.pop(0)], key=lambda chunk: chunk.position)
                if prompt_tokens(join_chunks(found, wider)) <= limit:
                    window = wider
                else:
                    side.clear()
    return window
