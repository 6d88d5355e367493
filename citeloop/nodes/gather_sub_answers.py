"""The branches brought together: one numbering of all their documents, and each sub-answer as it will be returned."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import Overwrite
from typing_extensions import TypedDict

from citeloop.prompts.refusals import NOT_FOUND
from citeloop.retrieval.found_documents import passages_by_id, require_one_answer, trace_query
from citeloop.state.graph_state import CheckedDraft, Passage
from citeloop.state.models import Citation, SubAnswer
from citeloop.state.multi_query_state import AnsweredSubQuestion, FoundDocuments, MultiQueryTrace, SubQuestionsState
from citeloop.verification.renumbering import renumber


class Gathered(TypedDict):
    """The sub-answers; ``best`` where the question was not split, and its one answer is the answer."""

    sub_answers: list[dict[str, Any]]
    passages: list[Passage]
    best: CheckedDraft | None
    answered: Overwrite
    trace: MultiQueryTrace
    tokens: dict[str, int]


async def gather_sub_answers(state: SubQuestionsState) -> Gathered:
    """Number the documents of all branches. Raises ``SearchFailed`` when every branch dropped out."""
    branches = list(state["answered"].values())
    require_one_answer(["" if branch["tokens"] else branch["error"] for branch in branches])
    unique = passages_by_id(passage for branch in branches for passage in branch["passages"])
    passages: list[Passage] = [{**p, "number": number} for number, p in enumerate(unique.values(), start=1)]
    numbers = {passage["chunk_id"]: passage["number"] for passage in passages}
    is_split = branches[0]["origin"] == "sub_question"
    has_answer = passages and not is_split
    return Gathered(
        sub_answers=[_sub_answer(branch, numbers).model_dump(mode="json") for branch in branches] if is_split else [],
        passages=passages,
        best=CheckedDraft(round=0, verdict=branches[0]["verdict"], passages=passages) if has_answer else None,
        answered=Overwrite({}),
        trace=MultiQueryTrace(queries=[trace_query(_as_found(branch)) for branch in branches]),
        tokens={"answer_sub_question": sum(branch["tokens"] for branch in branches)},
    )


def _sub_answer(branch: AnsweredSubQuestion, numbers: Mapping[str, int]) -> SubAnswer:
    verdict = renumber(branch["verdict"], branch["passages"], numbers)
    return SubAnswer(
        sub_question=branch["sub_question"],
        answer=NOT_FOUND if verdict["refused"] else verdict["answer"],
        found=not verdict["refused"],
        citations=tuple(Citation.model_validate(citation) for citation in verdict["citations"]),
        confidence=verdict["confidence"],
        source_chunk_ids=tuple(passage["chunk_id"] for passage in branch["passages"]),
        error=branch["error"],
    )


def _as_found(branch: AnsweredSubQuestion) -> FoundDocuments:
    return FoundDocuments(
        query=branch["sub_question"], origin=branch["origin"], passages=branch["passages"], error=branch["error"]
    )
