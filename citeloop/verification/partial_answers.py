"""Partial answers, each to its own group of passages, under one numbering of all that they cite."""

from collections.abc import Sequence
from typing import NamedTuple

from citeloop.state.graph_state import MappedGroup, Passage, Verdict
from citeloop.verification.answer_text.citations import parse_citations
from citeloop.verification.answer_text.renumbering import renumber
from citeloop.verification.claim_check import known_labels


class Combined(NamedTuple):
    """What an answer is combined from: ``answers`` cite ``passages`` by their numbers."""

    passages: list[Passage]
    answers: list[str]


def cited_passages(verdict: Verdict, passages: Sequence[Passage]) -> list[Passage]:
    """Those of ``passages`` that the answer of ``verdict``, reached over them, cites; of a refusal none."""
    cited = {marker.number for marker in parse_citations(verdict["answer"], known_labels(passages)).markers}
    return [passage for passage in passages if passage["number"] in cited and not verdict["refused"]]


def combine_groups(groups: Sequence[MappedGroup]) -> Combined:
    """The partial answers of ``groups`` in order, and the passages that they cite, each once and numbered from 1."""
    unique = {passage["chunk_id"]: passage for group in groups for passage in group["passages"]}
    passages: list[Passage] = [{**p, "number": number} for number, p in enumerate(unique.values(), start=1)]
    numbers = {passage["chunk_id"]: passage["number"] for passage in passages}
    return Combined(passages, [renumber(group["verdict"], group["passages"], numbers)["answer"] for group in groups])
