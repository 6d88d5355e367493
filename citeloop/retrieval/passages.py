"""Chunks of several corpora read for one caller."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from citeloop.knowledge.corpus import Chunk, ChunkSentences
from citeloop.knowledge.store import HierarchicalKnowledgeStore
from citeloop.models.embedder import SentenceVectorCache
from citeloop.state.graph_state import Candidate
from citeloop.state.models import UserContext


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


def _members_by_corpus(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    grouped: defaultdict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        grouped[candidate["corpus"]].append(candidate)
    return grouped


def _by_corpus(candidates: Iterable[Candidate]) -> dict[str, list[str]]:
    return {
        corpus: [member["chunk_id"] for member in members] for corpus, members in _members_by_corpus(candidates).items()
    }
