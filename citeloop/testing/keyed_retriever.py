"""A retriever that finds what a test tells it to."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from threading import Lock

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, PrivateAttr


class KeyedRetriever(BaseRetriever):
    """Finds documents by the exact query; a query it does not know finds nothing. Records the queries. Thread-safe.

    >>> fee = Document(id="D7", page_content="The fee is 12 euros.")
    >>> retriever = KeyedRetriever(results={"fee": [fee], "price": TimeoutError()}, delays_s={"price": 0.5})
    >>> [document.id for document in retriever.invoke("fee")]
    ['D7']
    >>> retriever.queries
    ['fee']
    """

    results: Mapping[str, Sequence[Document] | Exception]
    """The documents of each query, best first, or an error to raise."""
    delays_s: Mapping[str, float] = Field(default_factory=dict)
    """Seconds that a query takes; 0 for those not named."""

    _queries: list[str] = PrivateAttr(default_factory=list)
    _lock: Lock = PrivateAttr(default_factory=Lock)

    @property
    def queries(self) -> list[str]:
        """Each query, in the order in which the calls began."""
        return list(self._queries)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self._record(query)
        time.sleep(self.delays_s.get(query, 0))
        return self._found(query)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        self._record(query)
        await asyncio.sleep(self.delays_s.get(query, 0))
        return self._found(query)

    def _record(self, query: str) -> None:
        with self._lock:
            self._queries.append(query)

    def _found(self, query: str) -> list[Document]:
        found = self.results.get(query, ())
        if isinstance(found, Exception):
            raise found
        return list(found)
