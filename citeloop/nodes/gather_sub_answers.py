"""The branches brought together: one numbering of all their documents, and each sub-answer as it will be returned."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import TypedDict

from citeloop.errors import ModelUnavailable
from citeloop.prompts.refusals import INDEX_HAS_NO_ANSWER
from citeloop.retrieval.found_documents import passages_by_id, require_one_answer
from citeloop.state.graph_state import AnsweredSubQuestion, CheckedDraft, Draft, Passage, QueryState
from citeloop.state.multi_query_state import MultiQueryState
from citeloop.verification.sub_answers import best_of_rounds, sub_answer_of


class Gathered(TypedDict, total=False):
    """The sub-answers; ``best`` where the question was not split, and its one answer is the answer; ``draft`` where no
    part was found, and there is nothing to combine."""

    sub_answers: list[dict[str, Any]]
    passages: list[Passage]
    best: CheckedDraft
    draft: Draft
    trace: dict[str, Any]
    tokens: dict[str, int]


async def gather_sub_answers(state: QueryState | MultiQueryState) -> Gathered:
    """Take the best result of each sub-question, and number their documents as one list.

    Raises ``SearchFailed`` when every branch dropped out, and ``ModelUnavailable`` when none has an answer because the
    model failed over documents that were found, unless an earlier round left a draft to return.
    """
    results = list(state["answered"].values())
    excluded = frozenset(state.get("excluded_ids", ()))
    branches = best_of_rounds(results, excluded)
    if state["best"] is None:
        _require_one_answer(branches)
    unique = passages_by_id(p for branch in branches for p in branch["passages"] if p["chunk_id"] not in excluded)
    passages: list[Passage] = [{**p, "number": number} for number, p in enumerate(unique.values(), start=1)]
    gathered = Gathered(
        sub_answers=[],
        passages=passages,
        trace={"queries": [query for result in results for query in result["queries"]]},
        tokens={"answer_sub_question": sum(result["tokens"] for result in results)},
    )
    if branches[0]["origin"] == "sub_question":
        gathered.update(_parts(branches, passages))
        gathered["trace"] |= {
            "ranked_chunks": state["trace"].get("ranked_chunks") or _ranked(passages),
            "ranked_by": "relevance to their sub-questions",
        }
    elif passages:
        gathered["best"] = CheckedDraft(round=0, verdict=branches[0]["verdict"], passages=passages)
    return gathered


def _require_one_answer(branches: Sequence[AnsweredSubQuestion]) -> None:
    """That the documents hold no answer is said only where somebody looked."""
    unread = [branch for branch in branches if branch["error"] and branch["passages"] and not branch["tokens"]]
    if unread and all(branch["verdict"]["refused"] for branch in branches):
        raise ModelUnavailable(f"the model answered no part of the question; the first: {unread[0]['error']}")
    require_one_answer(["" if branch["tokens"] else branch["error"] for branch in branches])


def _parts(branches: Sequence[AnsweredSubQuestion], passages: Sequence[Passage]) -> Gathered:
    numbers = {passage["chunk_id"]: passage["number"] for passage in passages}
    sub_answers = [sub_answer_of(branch, numbers) for branch in branches]
    told = Gathered(sub_answers=[sub_answer.model_dump(mode="json") for sub_answer in sub_answers])
    if not any(sub_answer.found for sub_answer in sub_answers):
        told["draft"] = Draft(text=INDEX_HAS_NO_ANSWER, tokens=0)
    return told


def _ranked(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """The passages of all branches, by their relevance to the sub-question of each; equals as the branches stand."""
    return [
        {"chunk_id": p["chunk_id"], "corpus": p["corpus"], "document_uri": p["uri"], "score": p["score"]}
        for p in sorted(passages, key=lambda passage: -passage["score"])
    ]
