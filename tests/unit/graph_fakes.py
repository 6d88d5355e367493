"""Small fakes for calling nodes one by one, and a state to call them with."""

from dataclasses import dataclass, field
from typing import Any

from langgraph.runtime import Runtime

from citeloop.errors import CorpusNotFound
from citeloop.knowledge.corpus import Chunk, OpenCorpus
from citeloop.state.config import RAGConfig
from citeloop.state.graph_state import Candidate, Passage, QueryState, Request, Verdict
from citeloop.state.models import UserContext


def runtime(**settings: Any) -> Runtime[RAGConfig]:
    return Runtime(context=RAGConfig(**settings))


def request(question: str = "How long is parental leave?", **changes: Any) -> Request:
    base = Request(
        request_id="r1",
        question=question,
        corpora=None,
        access_reason="test",
        command="query",
        started_at=0.0,
        overrides={},
        review="off",
        checks={},
    )
    return Request(**{**base, **changes})


def passage(number: int, text: str = "Leave lasts 16 weeks.", **changes: Any) -> Passage:
    base = Passage(
        number=number,
        chunk_id=f"c{number}",
        corpus="handbook",
        document_id=f"d{number}",
        title="Leave",
        uri="leave.md",
        heading_path=["Leave"],
        text=text,
        start=0,
        end=len(text),
        score=1.0,
    )
    return Passage(**{**base, **changes})


def candidate(chunk_id: str, score: float = 1.0, corpus: str = "handbook") -> Candidate:
    return Candidate(chunk_id=chunk_id, corpus=corpus, document_uri=f"{chunk_id}.md", score=score)


def verdict(**changes: Any) -> Verdict:
    base = Verdict(
        answer="Leave lasts 16 weeks. [1]",
        refused=False,
        citations=[],
        invalid_chunk_ids=[],
        invalid_share=0.0,
        confidence=0.9,
        passed=True,
        note="",
    )
    return Verdict(**{**base, **changes})


def turn(**changes: Any) -> QueryState:
    """The state as ``authorize`` leaves it, with ``changes``."""
    base: QueryState = {
        "request": request(),
        "analysis": {"intent": "factual", "estimated_complexity": 0.1, "strategy": "standard", "reason": "test"},
        "queries": [{"text": "How long is parental leave?", "origin": "question"}],
        "round": 0,
        "hop": 0,
        "coverage": None,
        "grading": None,
        "correction": "none",
        "corrections_tried": [],
        "ranked_lists": {},
        "search_failures": {},
        "candidates": [],
        "excluded_ids": [],
        "passages": [],
        "best": None,
        "tokens": {},
        "answered": {},
        "sub_answers": [],
        "map_plan": None,
        "mapped": {},
        "partial_answers": [],
        "model_failure": "",
        "trace": {},
        "query_trace": [],
        "ranked_trace": [],
        "ranked_by": "",
        "round_trace": [],
    }
    return {**base, **changes}  # type: ignore[typeddict-item]


class InlineWorkers:
    """A worker pool that works in place."""

    async def run(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)


@dataclass
class RecordingAudit:
    """Keeps rows in a list, or fails."""

    rows: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    failure: Exception | None = None

    def append(self, request_id: str, event: str, body: dict[str, Any]) -> None:
        if self.failure:
            raise self.failure
        self.rows.append((request_id, event, body))


@dataclass
class OpenStore:
    """A store of one open corpus, ``handbook``."""

    opened_by: list[UserContext] = field(default_factory=list)

    def open_corpora(self, names: list[str] | None, caller: UserContext) -> list[OpenCorpus]:
        self.opened_by.append(caller)
        for name in names or []:
            if name != "handbook":
                raise CorpusNotFound(name)
        return [OpenCorpus("id", "handbook", "m", 3, 1)]


def chunk(chunk_id: str, text: str = "Leave lasts 16 weeks.", uri: str = "") -> Chunk:
    return Chunk(chunk_id, "handbook", "d", "s", 0, "Leave", uri or f"{chunk_id}.md", ("Leave",), text, 0, len(text))


@dataclass
class ChunkReader:
    """Reads chunks made up by id; ``gone`` ones are no longer in the store."""

    texts: dict[str, str] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    same_document: frozenset[str] = frozenset()
    beside: list[Candidate] = field(default_factory=list)

    def read_with_sentences(self, candidates: list[Candidate], caller: UserContext) -> Any:
        ids = [c["chunk_id"] for c in candidates if c["chunk_id"] not in self.gone]
        uris = {i: "a.md" if i in self.same_document else "" for i in ids}
        return {i: chunk(i, self.texts.get(i, f"Text of {i}."), uris[i]) for i in ids}, {}

    def around(self, candidates: list[Candidate], caller: UserContext) -> list[Candidate]:
        return self.beside
