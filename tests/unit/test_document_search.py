"""Any LangChain retriever as a search: ids, labels, depth, and where it runs."""

import threading
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from citeloop.retrieval.document_search import RetrieverSearch
from citeloop.state.graph_state import Passage
from citeloop.testing import KeyedRetriever
from citeloop.workers import WorkerPool


async def found(*documents: Document, depth: int = 10) -> list[Passage]:
    search = RetrieverSearch(KeyedRetriever(results={"q": documents}), WorkerPool(1))
    return (await search.search("q", depth, None, {})).passages


async def test_ids_come_from_the_document_its_metadata_or_its_text() -> None:
    by_id, by_metadata, by_text, again = await found(
        Document(id="D7", page_content="a"),
        Document(page_content="b", metadata={"id": 12}),
        Document(page_content="c"),
        Document(page_content="c"),
    )
    assert (by_id["chunk_id"], by_metadata["chunk_id"]) == ("D7", "12")
    assert by_text["chunk_id"] == again["chunk_id"] != by_id["chunk_id"]


async def test_the_number_zero_is_an_id_and_an_empty_cell_is_none() -> None:
    zero, empty = await found(
        Document(page_content="a", metadata={"id": 0}),
        Document(page_content="b", metadata={"id": float("nan"), "title": float("nan"), "source": None, "url": "b.md"}),
    )
    assert zero["chunk_id"] == zero["label"] == "0"
    assert (empty["title"], empty["uri"]) == ("", "b.md")
    assert empty["chunk_id"].startswith("doc-")


async def test_title_and_address_come_from_the_metadata() -> None:
    [passage] = await found(Document(id="D7", page_content="a", metadata={"title": "Fees", "source": "fees.md"}))
    assert (passage["title"], passage["uri"], passage["end"]) == ("Fees", "fees.md", 1)


@pytest.mark.parametrize(
    ("document_id", "is_label"),
    [("D7", True), ("docs/fees.md#2", True), ("3f2b-11", True), ("a, b", False), ("[x]", False), ("x" * 65, False)],
)
async def test_an_id_that_cannot_stand_between_brackets_gets_a_label(document_id: str, is_label: bool) -> None:
    [passage] = await found(Document(id=document_id, page_content="a"))
    assert passage["chunk_id"] == document_id
    assert (passage["label"] == document_id) is is_label


async def test_no_more_than_the_depth_is_taken() -> None:
    assert len(await found(*(Document(id=str(n), page_content="a") for n in range(9)), depth=3)) == 3


async def test_a_vector_store_is_asked_for_as_many_as_wanted() -> None:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    store.add_texts([f"text {n}" for n in range(9)])
    search = RetrieverSearch(store.as_retriever(), WorkerPool(1))
    assert len((await search.search("q", 8, None, {})).passages) == 8


class ThreadNaming(BaseRetriever):
    """Finds the name of the thread that it runs in."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(id=threading.current_thread().name, page_content="a")]


class OldStyle(BaseRetriever):
    """As retrievers were written before callbacks."""

    def _get_relevant_documents(self, query: str) -> list[Document]:  # type: ignore[override]
        return [Document(id=threading.current_thread().name, page_content="a")]


@pytest.mark.parametrize("retriever", [ThreadNaming(), OldStyle()])
async def test_a_synchronous_retriever_runs_in_our_workers(retriever: BaseRetriever) -> None:
    [passage] = (await RetrieverSearch(retriever, WorkerPool(1)).search("q", 5, None, {})).passages
    assert passage["chunk_id"].startswith("citeloop")
