"""What the follow-ups of a hop found, ranked by what each asked for, among what was found before."""

from collections.abc import Sequence

from langchain_core.runnables import RunnableConfig
from typing_extensions import TypedDict

from citeloop.governance.identity import caller_of
from citeloop.retrieval.candidate_ranking import best_first, distinct, scored, trace_documents
from citeloop.retrieval.follow_ups import follow_up_score
from citeloop.retrieval.passages import PassageReader
from citeloop.retrieval.query_plan import queries_in_hop
from citeloop.retrieval.relevance import probability
from citeloop.retrieval.rerank import Reranker
from citeloop.state.graph_state import Candidate, Query, QueryState
from citeloop.workers import WorkerPool


class FollowUpsReranked(TypedDict):
    """The candidates of all hops so far, best first."""

    candidates: list[Candidate]
    ranked_trace: list[Candidate]


async def rerank_follow_ups(
    state: QueryState, config: RunnableConfig, *, reader: PassageReader, reranker: Reranker, workers: WorkerPool
) -> FollowUpsReranked:
    """Rerank the passages of each follow-up by that follow-up, weighed by the trust in what led to it.

    A chunk found several times stands at its best score: by the question, or by a follow-up of any hop. Where reranking
    is switched off, this is done all the same: nothing else tells what a follow-up is worth.
    """
    queries = queries_in_hop(state["queries"], state["hop"])
    texts = {query["text"] for query in queries}
    fresh = [candidate for candidate in state["candidates"] if candidate.get("query") in texts]
    before = [candidate for candidate in state["candidates"] if candidate.get("query") not in texts]

    def rerank() -> list[Candidate]:
        chunks, sentences = reader.read_with_sentences(distinct(fresh), caller_of(config))

        def rank(query: Query) -> Sequence[Candidate]:
            members = [one for one in fresh if one.get("query") == query["text"] and one["chunk_id"] in chunks]
            in_order = [chunks[one["chunk_id"]] for one in members]
            relevance = probability(reranker.rerank(query["text"], in_order, sentences)).tolist()
            worth = [follow_up_score(query, chunk, one) for chunk, one in zip(in_order, relevance, strict=True)]
            return scored(members, chunks, worth)

        return [candidate for query in queries for candidate in rank(query)]

    ranked = distinct(best_first([*before, *await workers.run(rerank)]))
    return FollowUpsReranked(candidates=ranked, ranked_trace=trace_documents(ranked))
