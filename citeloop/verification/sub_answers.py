"""Sub-answers: how one that was not found is kept, which of several rounds counts, and how they are told."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TypeVar

from citeloop.prompts.refusals import NOT_FOUND, PART_NOT_FOUND
from citeloop.state.graph_state import AnsweredBranch, AnsweredSubQuestion, Passage, SubQuestionTask
from citeloop.state.models import Citation, SubAnswer
from citeloop.text.sentences import split_sentences
from citeloop.text.words import content_stems
from citeloop.verification.answer_text.abstention import abstains
from citeloop.verification.answer_text.renumbering import renumber
from citeloop.verification.correction import merit
from citeloop.verification.refusal import refusal_verdict

Branch = TypeVar("Branch", bound=AnsweredBranch)


def not_found(
    task: SubQuestionTask, note: str, error: str = "", passages: Iterable[Passage] = ()
) -> AnsweredSubQuestion:
    """The result of a branch that has no answer; ``note`` says why, ``error`` what it dropped out of."""
    return AnsweredSubQuestion(
        key=task["key"],
        round=task["round"],
        sub_question=task["sub_question"],
        origin=task["origin"],
        verdict=refusal_verdict(NOT_FOUND, note),
        passages=list(passages),
        queries=[],
        tokens=0,
        error=error,
    )


def best_of_rounds(answered: Iterable[Branch], excluded: AbstractSet[str] = frozenset()) -> list[Branch]:
    """For each sub-question (or group of passages), in order, its best result that cites nothing ``excluded``; of
    equals the earlier one."""
    by_key: dict[str, Branch] = {}
    for result in sorted(answered, key=lambda result: (result["key"], result["round"])):
        best = by_key.get(result["key"])
        if best is None or _cites(best, excluded) or _is_better(result, best, excluded):
            by_key[result["key"]] = result
    return list(by_key.values())


def sub_answer_of(result: AnsweredSubQuestion, numbers: Mapping[str, int]) -> SubAnswer:
    """The result as it is returned; its citations point into the sources that ``numbers`` numbers by chunk id.

    A passage that has none was dropped: this answer does not cite it.
    """
    kept = [passage for passage in result["passages"] if passage["chunk_id"] in numbers]
    verdict = renumber(result["verdict"], kept, numbers)
    return SubAnswer(
        sub_question=result["sub_question"],
        answer=NOT_FOUND if verdict["refused"] else verdict["answer"],
        found=not verdict["refused"],
        passed=verdict["passed"],
        citations=tuple(Citation.model_validate(citation) for citation in verdict["citations"]),
        confidence=verdict["confidence"],
        source_chunk_ids=tuple(passage["chunk_id"] for passage in result["passages"]),
        error=result["error"],
    )


def _is_better(new: AnsweredBranch, old: AnsweredBranch, excluded: AbstractSet[str]) -> bool:
    return not _cites(new, excluded) and merit(new["verdict"]) > merit(old["verdict"])


def _cites(result: AnsweredBranch, excluded: AbstractSet[str]) -> bool:
    return any(citation["source_chunk_id"] in excluded for citation in result["verdict"]["citations"])


def tell_missing(answer: str, missing: Iterable[str]) -> str:
    """``answer`` with a sentence for each of the sub-questions ``missing`` that it does not say to be unanswered.

    A model is asked to say so, and may leave it out (multi-query specification: the combiner must tell).
    """
    admitted = [
        frozenset(content_stems(answer[start:end]))
        for start, end in split_sentences(answer)
        if abstains(answer[start:end])
    ]
    untold = [part for part in missing if not any(_is_about(part, stems) for stems in admitted)]
    return "\n\n".join([answer, *(PART_NOT_FOUND.format(part=part) for part in untold)])


def _is_about(part: str, admitted: AbstractSet[str]) -> bool:
    wanted = frozenset(content_stems(part))
    return 2 * len(wanted & admitted) >= len(wanted)
