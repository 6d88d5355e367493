"""Passages on their way into a prompt: rendered, and as many as its window holds."""

import logging
from collections.abc import Iterable, Sequence
from typing import TypeVar

from citeloop.prompts.grounded_answer import render_document
from citeloop.retrieval.context_budget import ContextWindow, fit_in_budget, passage_budget
from citeloop.state.graph_state import Candidate, Passage
from citeloop.text.tokens import count_tokens

Found = TypeVar("Found", Candidate, Passage)

_log = logging.getLogger(__name__)

_LONGEST_SHARE = 75
"""Percent of the room that a document too long for all of it is cut to."""


def render_passages(passages: Iterable[Passage]) -> str:
    """The passages as ``<document>`` elements, each under what its citations name it by."""
    return "\n".join(map(_render, passages))


def split_background(found: Sequence[Found]) -> tuple[list[Found], list[Found]]:
    """What was found for the question itself, and what for a step-back question; each in its order."""
    specific = [one for one in found if one.get("origin") != "step_back"]
    return specific, [one for one in found if one.get("origin") == "step_back"]


def number_fitting(passages: Sequence[Passage], frame: str, window: ContextWindow) -> list[Passage]:
    """The passages that fit beside ``frame`` (the prompt without them), most relevant first, numbered from 1.

    The first is always among them, cut where it is too long: it answers best, and the rest would stand for it. Raises
    ``InvalidRequest`` when the question leaves no room for evidence.
    """
    budget = passage_budget(count_tokens(frame), window)
    if passages and count_tokens(_render(passages[0])) > budget:
        passages = [_cut(passages[0], _LONGEST_SHARE * budget // 100), *passages[1:]]
    taken = [passages[index] for index in fit_in_budget([count_tokens(_render(p)) for p in passages], budget)]
    if len(taken) < len(passages):
        _log.info("%d of %d documents fit into the prompt", len(taken), len(passages))
    return [{**passage, "number": number} for number, passage in enumerate(taken, start=1)]


def _render(passage: Passage) -> str:
    label = passage.get("label") or str(passage["number"])  # as text: the prompts ask for the document's ID
    return render_document(label, passage["title"], passage["heading_path"], passage["text"])


def _cut(passage: Passage, budget: int) -> Passage:
    text = passage["text"]
    while text and count_tokens(_render({**passage, "text": text})) > budget:
        text = text[: int(len(text) * 0.9)]
    _log.warning("document %s is cut to %d of its %d characters", passage["chunk_id"], len(text), len(passage["text"]))
    return {**passage, "text": text, "end": passage["start"] + len(text)}
