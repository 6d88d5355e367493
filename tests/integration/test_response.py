"""What a response tells of its retrieval, under the specification's names."""

from citeloop.engine import RAGQueryEngine
from citeloop.state.models import RetrievalStrategy


def test_the_context_used_is_what_stood_before_the_generator(engine: RAGQueryEngine) -> None:
    response = engine.query("How long is parental leave?", access_reason="t", strategy="standard", top_k=2)
    used = response.context_used
    assert used.strategy_used is RetrievalStrategy.STANDARD
    assert used.chunks == response.sources
    assert {citation.source_chunk_id for citation in response.citations} <= {chunk.chunk_id for chunk in used.chunks}
    assert len(used.chunks) <= used.total_retrieved
    assert (used.hops_executed, used.entities_traversed) == (1, ())


def test_the_trace_tells_raw_ranks_and_the_reranked_documents(engine: RAGQueryEngine) -> None:
    trace = engine.query("How long is parental leave?", access_reason="t", strategy="standard").trace
    for told in trace["queries"]:
        scores = [hit["score"] for hit in told["ranked"]]
        assert scores == sorted(scores, reverse=True)
    reranked = trace["ranked_chunks"]
    assert len({chunk["document_uri"] for chunk in reranked}) == len(reranked)
    assert [chunk["score"] for chunk in reranked] == sorted((chunk["score"] for chunk in reranked), reverse=True)
    assert trace["ranked_by"] == "sentence-relevance"
