"""The answer model of ``train_relevance.py``: what the quoting model would say, and whether that answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from linear_fit import Columns, fit_linear, logistic
from relevance_data import Example

from citeloop.models.evidence import EvidencePassage
from citeloop.models.quotable import Quotable
from citeloop.models.quoting import choose_places, plan_for
from citeloop.retrieval.answer_features import answer_features
from citeloop.retrieval.relevance import LinearModel, probability
from citeloop.retrieval.relevance_features import EmbeddedPassage, Matrix, passage_features
from citeloop.retrieval.sentence_signals import read_signals

PASSAGES = 10
"""Passages before the quoting model."""

UNANSWERABLE_SHARE = 0.2
"""Share of unanswerable questions for which answer relevance is calibrated. squad2 has 52% on purpose, each written to
come near an answer; people who ask their own documents do so less often."""

LEAST_ANSWERED = 0.98
"""Share of answerable questions that must still be answered where refusals begin: some points over the 95% that are
wanted of the whole engine, since other collections are not these. An answer lost costs more than a marked near miss."""

_PENALTY = 2e-2


@dataclass(frozen=True)
class QuotedAnswer:
    """What the extractive model would say."""

    group: str
    """Set and article, or another part of the set, joined by a colon: left out together."""
    ranked: list[str]
    """Document ids after reranking."""
    columns: Columns
    is_answerable: bool
    first_is_right: bool
    is_right: bool
    word_count: int


def quote(sentence: LinearModel, passage: LinearModel, example: Example, group: str) -> QuotedAnswer:
    """Rerank, keep ten passages, score their sentences, choose."""
    ranking = np.argsort(
        -passage.logits(passage_features(example.laid_out, example.columns, sentence.logits(example.columns))),
        kind="stable",
    )
    kept = example.keep(ranking[:PASSAGES].tolist())
    starts = kept.laid_out.starts
    quotables = [tuple(Quotable(text, False) for text in candidate.passage.sentences) for candidate in kept.candidates]
    scores = np.split(sentence.logits(kept.columns), starts[1:])
    places = choose_places(quotables, scores, plan_for(example.question.text))
    evidence = [
        EmbeddedPassage(
            EvidencePassage(kept.candidates[number].passage.context, tuple(quotables[number][s].text for s in chosen)),
            kept.candidates[number].vectors[chosen],
        )
        for number in dict.fromkeys(place.passage for place in places)
        if (chosen := [place.sentence for place in places if place.passage == number])
    ]
    right = [bool(kept.answers[starts[place.passage] + place.sentence]) for place in places]
    return QuotedAnswer(
        group=group,
        ranked=[example.document_ids[index] for index in ranking],
        columns=answer_features(example.question, evidence),
        is_answerable=bool(example.row["gold_doc_ids"]),
        first_is_right=right[0],
        is_right=any(right),
        word_count=sum(read_signals(text).word_count for one in evidence for text in one.passage.sentences),
    )


def fit_answer(answers: Sequence[QuotedAnswer]) -> LinearModel:
    """P(the quoted sentences hold the answer): logistic, then calibrated."""
    return _calibrate(_fit(answers), _left_out_logits(answers), answers)


def operating_point(answers: Sequence[QuotedAnswer]) -> dict[str, float]:
    """The relevance under which to refuse: ``LEAST_ANSWERED`` of the answerable ones keep their answer.

    Each group is scored by a model that has not seen it.
    """
    logits, weights = _left_out_logits(answers), set_weights(answers)
    relevance = probability(_calibrate(LinearModel(0.0, {"logit": 1.0}), logits, answers).logits({"logit": logits}))
    answerable = np.array([one.is_answerable for one in answers])
    order = np.argsort(relevance[answerable])
    refused = np.cumsum(weights[answerable][order]) / weights[answerable].sum()
    threshold = relevance[answerable][order][np.searchsorted(refused, 1 - LEAST_ANSWERED)]
    return _figures(float(threshold), relevance, answerable, np.array([one.is_right for one in answers]))


def set_weights(answers: Sequence[QuotedAnswer]) -> Matrix:
    """Weights halfway between all questions alike and all sets alike: the square root of what would make sets alike."""
    names = np.array([one.group.partition(":")[0] for one in answers])
    of_set = dict(zip(*np.unique(names, return_counts=True), strict=True))
    return np.sqrt([len(answers) / len(of_set) / of_set[name] for name in names])


def question_weights(answers: Sequence[QuotedAnswer]) -> Matrix:
    """Weights under which ``UNANSWERABLE_SHARE`` of the questions are unanswerable; all alike where none is."""
    unanswerable = np.array([not one.is_answerable for one in answers])
    odds = UNANSWERABLE_SHARE / (1 - UNANSWERABLE_SHARE)
    return np.where(unanswerable, odds * (~unanswerable).sum() / max(1, unanswerable.sum()), 1.0)


def _fit(answers: Sequence[QuotedAnswer]) -> LinearModel:
    right = np.array([float(one.is_right) for one in answers])
    return fit_linear([one.columns for one in answers], logistic(right, set_weights(answers)), _PENALTY)


def _left_out_logits(answers: Sequence[QuotedAnswer]) -> Matrix:
    """Each answer's logit by a model fitted on all groups but its own."""
    logits = np.zeros(len(answers))
    groups = np.array([one.group for one in answers])
    for group in np.unique(groups):
        model = _fit([one for one in answers if one.group != group])
        for index in np.flatnonzero(groups == group):
            logits[index] = model.logits(answers[index].columns)[0]
    return logits


def _calibrate(model: LinearModel, left_out: Matrix, answers: Sequence[QuotedAnswer]) -> LinearModel:
    """``model`` with its logits stretched and shifted (Platt 1999) to be right where ``UNANSWERABLE_SHARE`` holds."""
    right = np.array([float(one.is_right) for one in answers])
    line = fit_linear([{"logit": left_out}], logistic(right, question_weights(answers) * set_weights(answers)), 0.0)
    slope = line.weights["logit"]
    weights = {name: round(slope * weight, 5) for name, weight in model.weights.items()}
    return LinearModel(round(line.intercept + slope * model.intercept, 5), weights)


def _figures(threshold: float, relevance: Matrix, answerable: Matrix, right: Matrix) -> dict[str, float]:
    refused = relevance < threshold
    return {
        "threshold": float(threshold),
        "answered": float(np.mean(~refused[answerable])),
        "answer_right": float(np.mean((right & ~refused)[answerable])),
        "refused_unanswerable": float(np.mean(refused[~answerable])),
        "refusal_f1": float(2 * (refused & ~answerable).sum() / (refused.sum() + (~answerable).sum())),
    }
