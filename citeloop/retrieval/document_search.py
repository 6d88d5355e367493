"""What the multi-query graphs ask of a search, and any LangChain retriever as one."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStore, VectorStoreRetriever

from citeloop.errors import InvalidRequest
from citeloop.state.graph_state import Passage
from citeloop.workers import WorkerPool

Corpora = Sequence[str] | None
"""Names asked for; ``None``: all that are open to the caller."""


class Found(NamedTuple):
    """What one query found."""

    passages: list[Passage]
    """Best first; with a label where citations are to name them by it, not by number."""
    failures: Sequence[str] = ()
    """What parts of the search dropped out, the others having been answered."""


class DocumentSearch(Protocol):
    """Finds documents for one query, as the caller of the run that ``config`` belongs to."""

    async def require_open(self, corpora: Corpora, config: RunnableConfig) -> None:
        """Raise ``CorpusNotFound`` or ``InvalidRequest`` when the corpora cannot be searched for this caller."""

    async def search(self, query: str, depth: int, corpora: Corpora, config: RunnableConfig) -> Found:
        """At most ``depth`` passages."""


@dataclass(frozen=True, slots=True)
class RetrieverSearch:
    """Searches by ``retriever``; one without an asynchronous face of its own runs in ``workers``.

    A document's id is ``Document.id``, else ``metadata["id"]``, else made of its text. Its title is
    ``metadata["title"]``, its address ``metadata["source"]``, ``["uri"]`` or ``["url"]``.
    """

    retriever: BaseRetriever
    workers: WorkerPool

    async def require_open(self, corpora: Corpora, config: RunnableConfig) -> None:
        """See ``DocumentSearch``: a retriever is one whole."""
        if corpora:
            raise InvalidRequest("this graph searches one retriever, which has no corpora to choose from")

    async def search(self, query: str, depth: int, corpora: Corpora, config: RunnableConfig) -> Found:
        """See ``DocumentSearch``. Raises what the retriever raises."""
        options = {"k": depth} if isinstance(self.retriever, VectorStoreRetriever) else {}  # it fetches 4 by itself
        if _is_sync_only(self.retriever):  # LangChain would run it in asyncio's own pool: small, and not ours to size
            found = await self.workers.run(self.retriever.invoke, query, config, **options)
        else:
            found = await self.retriever.ainvoke(query, config, **options)
        return Found([_passage(document, rank) for rank, document in enumerate(found[:depth], start=1)])


def _is_sync_only(retriever: BaseRetriever) -> bool:
    """Whether its asynchronous face is LangChain's own, which runs the synchronous one in a thread."""
    if isinstance(retriever, VectorStoreRetriever):
        store = type(retriever.vectorstore)
        return store.asimilarity_search is VectorStore.asimilarity_search
    return type(retriever)._aget_relevant_documents.__module__ == BaseRetriever.__module__


def _passage(document: Document, rank: int) -> Passage:
    text, metadata = document.page_content, document.metadata
    document_id = str(document.id or _first_text(metadata, "id") or f"doc-{_digest(text)}")
    return Passage(
        number=rank,
        chunk_id=document_id,
        corpus="",
        document_id=document_id,
        title=_first_text(metadata, "title"),
        uri=_first_text(metadata, "source", "uri", "url"),
        heading_path=[],
        text=text,
        start=0,
        end=len(text),
        score=0.0,
        label=document_id if _CITABLE.fullmatch(document_id) else f"doc-{_digest(document_id)}",
    )


_CITABLE = re.compile(r"[\w.:/#@-]{1,64}")
"""An id that a model can write between brackets; another gets a label made of it."""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


_MISSING = frozenset({"", "None", "nan", "NaT", "<NA>"})
"""What the empty cells of a table become as text."""


def _first_text(metadata: dict[str, Any], *keys: str) -> str:
    """The first of the values that says something; the number 0 does."""
    values = (metadata.get(key) for key in keys)
    return next(
        (str(value) for value in values if (value if isinstance(value, str) else str(value) not in _MISSING)), ""
    )
