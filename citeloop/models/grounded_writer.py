"""The extractive answers to the prompts that hold documents or answers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from citeloop.models.evidence import EvidenceJudge, EvidencePassage
from citeloop.models.fitness import weigh_fitness
from citeloop.models.prompt_reading import PromptDocument, read_documents, read_sub_answers, read_text
from citeloop.models.quotable import BETWEEN_CELLS, Quotable, cut_quotables
from citeloop.models.quoting import Place, choose_places, plan_for, reading_order
from citeloop.prompts.conversation import standing_part
from citeloop.prompts.refusals import NO_EVIDENCE, NOT_FOUND, PART_NOT_FOUND, is_refusal
from citeloop.text.sentences import Span, split_sentences

LEAST_RELEVANCE = 0.40
"""Under this probability of answering, the quotes are withheld: 98% of the answerable questions that the answer model
is trained on stay answered, sets weighted as in training, each article left out in turn (``operating_point`` of
benchmarks/answer_model.py)."""

_cut = lru_cache(maxsize=2_048)(cut_quotables)


def write_grounded_answer(values: Mapping[str, str], judge: EvidenceJudge) -> str:
    """The best sentences of the documents, or the refusal."""
    return quote_answer(standing_part(read_text(values["question"])), read_documents(values["documents"]), judge)


def write_sub_answer(values: Mapping[str, str], judge: EvidenceJudge) -> str:
    """The best sentences of the documents, or "not found"."""
    answer = quote_answer(read_text(values["sub_question"]), read_documents(values["documents"]), judge)
    return NOT_FOUND if answer == NO_EVIDENCE else answer


def write_answer_with_background(values: Mapping[str, str], judge: EvidenceJudge) -> str:
    """The best sentences of both sets of documents, the specific ones read first, or the refusal."""
    documents = [*read_documents(values["specific_docs"]), *read_documents(values["background_docs"])]
    return quote_answer(standing_part(read_text(values["question"])), documents, judge)


def write_combination(values: Mapping[str, str], judge: EvidenceJudge) -> str:
    """The sub-answers one after the other, as they are, and which sub-question has none."""
    return "\n\n".join(
        PART_NOT_FOUND.format(part=question) if is_refusal(answer) else answer
        for question, answer in read_sub_answers(values["sub_questions_and_answers"])
    )


def quote_answer(question: str, documents: Sequence[PromptDocument], judge: EvidenceJudge) -> str:
    """The best sentences of ``documents``, each followed by its ``[label]``, or the refusal."""
    documents = [document for document in documents if _cut(document.text)]
    passages = [_cut(document.text) for document in documents]
    if not passages:
        return NO_EVIDENCE
    evidence = [_evidence(document, passage) for document, passage in zip(documents, passages, strict=True)]
    scores = weigh_fitness(question, passages, judge.score_sentences(question, evidence))
    plan = plan_for(question)
    places = choose_places(passages, scores, plan)
    if not places or judge.answer_relevance(question, quoted_evidence(evidence, places)) < LEAST_RELEVANCE:
        return NO_EVIDENCE
    return "".join(_write(documents, passages, reading_order(passages, places, plan)))


def quoted_evidence(evidence: Sequence[EvidencePassage], places: Sequence[Place]) -> list[EvidencePassage]:
    """The chosen sentences alone, under the context of their passage."""
    return [
        EvidencePassage(
            evidence[passage].context,
            tuple(evidence[passage].sentences[place.sentence] for place in places if place.passage == passage),
        )
        for passage in dict.fromkeys(place.passage for place in places)
    ]


def _write(
    documents: Sequence[PromptDocument], passages: Sequence[Sequence[Quotable]], places: Sequence[Place]
) -> Iterator[str]:
    quotables = [passages[place.passage][place.sentence] for place in places]
    listed = sum(quotable.is_item or quotable.leads_in for quotable in quotables) > 1
    for place, quotable, follower in zip(places, quotables, [*quotables[1:], None], strict=True):
        bullet = "- " if quotable.is_item and listed else ""
        yield bullet + _cited(quotable, documents[place.passage].label)
        if quotable.code and quotable.leads_in:
            yield f"\n\n{quotable.code}"
        if follower is not None:
            yield _separator(quotable, follower)


def _cited(quotable: Quotable, label: str) -> str:
    """The quote with its marker; in a row of a table, which may hold several sentences, behind each of them."""
    spans = split_sentences(quotable.quote) if quotable.is_row else [Span(0, len(quotable.quote))]
    return " ".join(f"{quotable.quote[start:end].lstrip(BETWEEN_CELLS)} [{label}]" for start, end in spans)


def _separator(quotable: Quotable, follower: Quotable) -> str:
    if quotable.code and quotable.leads_in:
        return "\n\n"
    breaks = follower.is_item or (quotable.in_list and not follower.continues)
    return "\n" if breaks else " "


def _evidence(document: PromptDocument, passage: Sequence[Quotable]) -> EvidencePassage:
    texts, lead_ins = zip(*((quotable.text, quotable.lead_in) for quotable in passage), strict=True)
    return EvidencePassage(document.context, texts, lead_ins)
