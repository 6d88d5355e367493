"""The extractive answer to the grounded question prompt."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from citeloop.models.evidence import EvidenceJudge, EvidencePassage
from citeloop.models.prompt_reading import PromptDocument, read_documents, read_tag
from citeloop.models.quotable import Quotable, cut_quotables
from citeloop.models.quoting import Place, choose_places, plan_for
from citeloop.prompts.refusals import NO_EVIDENCE

LEAST_RELEVANCE = 0.35
"""Under this probability of answering, the quotes are withheld. Frozen on the questions that the answer model is
trained on, where it withholds fewer than one right answer in fifty."""

_cut = lru_cache(maxsize=2_048)(cut_quotables)


def write_grounded_answer(prompt: str, judge: EvidenceJudge) -> str:
    """The best sentences of the prompt's documents, each followed by its ``[n]``, or the refusal."""
    question = read_tag(prompt, "question") or ""
    documents = [document for document in read_documents(prompt) if _cut(document.text)]
    passages = [_cut(document.text) for document in documents]
    if not passages:
        return NO_EVIDENCE
    evidence = [_evidence(document, passage) for document, passage in zip(documents, passages, strict=True)]
    places = choose_places(passages, judge.score_sentences(question, evidence), plan_for(question))
    if not places or judge.answer_relevance(question, quoted_evidence(evidence, places)) < LEAST_RELEVANCE:
        return NO_EVIDENCE
    return "".join(_write(documents, passages, reading_order(places)))


def quoted_evidence(evidence: Sequence[EvidencePassage], places: Sequence[Place]) -> list[EvidencePassage]:
    """The chosen sentences alone, under the context of their passage."""
    return [
        EvidencePassage(
            evidence[passage].context,
            tuple(evidence[passage].sentences[place.sentence] for place in places if place.passage == passage),
        )
        for passage in dict.fromkeys(place.passage for place in places)
    ]


def reading_order(places: Sequence[Place]) -> list[Place]:
    """``places`` with each that directly continues another moved behind it; the first stays first."""
    ordered: list[Place] = []
    for place in places:
        before = Place(place.passage, place.sentence - 1)
        at = ordered.index(before) + 1 if before in ordered else len(ordered)
        ordered.insert(at, place)
    return ordered


def _write(
    documents: Sequence[PromptDocument], passages: Sequence[Sequence[Quotable]], places: Sequence[Place]
) -> Iterator[str]:
    quotables = [passages[place.passage][place.sentence] for place in places]
    for place, quotable, follower in zip(places, quotables, [*quotables[1:], None], strict=True):
        bullet = "- " if quotable.is_item else ""
        yield f"{bullet}{quotable.quote} [{documents[place.passage].label}]"
        if quotable.code and quotable.leads_in:
            yield f"\n\n{quotable.code}"
        if follower is not None:
            yield _separator(quotable, follower)


def _separator(quotable: Quotable, follower: Quotable) -> str:
    if quotable.code and quotable.leads_in:
        return "\n\n"
    return "\n" if follower.is_item or quotable.is_item else " "


def _evidence(document: PromptDocument, passage: Sequence[Quotable]) -> EvidencePassage:
    return EvidencePassage(document.context, tuple(quotable.text for quotable in passage))
