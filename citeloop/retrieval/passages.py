"""Chunks of several corpora read for one caller."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from citeloop.knowledge.corpus import Chunk, ChunkSentences
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import SentenceVectorCache
from citeloop.retrieval.joined_chunks import REACH, join_chunks
from citeloop.state.graph_state import Candidate, Passage
from citeloop.state.models import SourceReference, UserContext


@dataclass(frozen=True, slots=True)
class PassageReader:
    """Reads the chunks behind candidates, and puts their stored sentence vectors where scorers look for them.

    Blocking: call it from a worker thread. Corpora are opened as the caller, each time.
    """

    store: HierarchicalKnowledgeStore
    vectors: SentenceVectorCache

    def read_with_sentences(
        self, candidates: Iterable[Candidate], caller: UserContext
    ) -> tuple[dict[str, Chunk], dict[str, ChunkSentences]]:
        """The chunks and their sentences by id; the sentences' vectors are from now on known to the embedder."""
        chunks: dict[str, Chunk] = {}
        sentences: dict[str, ChunkSentences] = {}
        for corpus_name, ids in _by_corpus(candidates).items():
            corpus = self.store.open_corpus(corpus_name, caller)
            for chunk, stored in self.store.read_chunks_with_sentences(corpus, ids):
                chunks[chunk.id], sentences[chunk.id] = chunk, stored
                self.vectors.prime([chunk.text[start:end] for start, end in stored.spans], stored.vectors)
        return chunks, sentences

    def read_passages(self, sources: Sequence[SourceReference], caller: UserContext) -> list[Passage]:
        """The passages behind the sources of a response, under their numbers, as they are stored now."""
        wanted = [Candidate(chunk_id=s.chunk_id, corpus=s.corpus, document_uri=s.uri, score=s.score) for s in sources]
        chunks, _ = self.read_with_sentences(wanted, caller)
        there = [(source, chunks[source.chunk_id]) for source in sources if source.chunk_id in chunks]
        return [numbered_passage(s.number, self._as_wide_as(s, chunk, caller), s.score) for s, chunk in there]

    def _as_wide_as(self, source: SourceReference, found: Chunk, caller: UserContext) -> Chunk:
        """The chunk with those beside it that stood in the source with it (``context_unit``)."""
        if source.start >= found.start and source.end <= found.end:
            return found
        corpus = self.store.open_corpus(found.corpus, caller)
        near = self.store.neighbours(corpus, [found.id], radius=REACH)
        inside = [chunk for chunk in near if source.start <= chunk.start and chunk.end <= source.end]
        return join_chunks(found, sorted([found, *inside], key=lambda chunk: chunk.position))

    def around(self, candidates: Iterable[Candidate], caller: UserContext) -> list[Candidate]:
        """Neighbours and parent sections of the chunks, as candidates with the score of the chunk they stand beside."""
        found: list[Candidate] = []
        for corpus_name, members in _members_by_corpus(candidates).items():
            corpus = self.store.open_corpus(corpus_name, caller)
            ids = [member["chunk_id"] for member in members]
            near = [*self.store.neighbours(corpus, ids, radius=1), *self.store.section_chunks(corpus, ids)]
            best = max(member["score"] for member in members)
            found += [
                Candidate(chunk_id=chunk.id, corpus=corpus.name, document_uri=chunk.uri, score=best) for chunk in near
            ]
        return list({candidate["chunk_id"]: candidate for candidate in found}.values())


def numbered_passage(number: int, chunk: Chunk, score: float) -> Passage:
    """The chunk as it stands before the generator."""
    return Passage(
        number=number,
        chunk_id=chunk.id,
        corpus=chunk.corpus,
        document_id=chunk.document_id,
        title=chunk.title,
        uri=chunk.uri,
        heading_path=list(chunk.heading_path),
        text=chunk.text,
        start=chunk.start,
        end=chunk.end,
        score=round(score, 6),
    )


def _members_by_corpus(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    grouped: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        grouped[candidate["corpus"]].append(candidate)
    return grouped


def _by_corpus(candidates: Iterable[Candidate]) -> dict[str, list[str]]:
    return {
        corpus: [member["chunk_id"] for member in members] for corpus, members in _members_by_corpus(candidates).items()
    }
