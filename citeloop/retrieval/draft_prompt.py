"""The prompt of a draft in the query graph: one place builds it, so that what is counted is what is sent."""

from collections.abc import Sequence
from typing import NamedTuple

from langchain_core.messages import BaseMessage, SystemMessage

from citeloop.prompts.conversation import show_question
from citeloop.prompts.grounded_answer import grounded_answer_messages, render_document
from citeloop.prompts.library import citation_system_prompt, load_prompt
from citeloop.prompts.multi_query import fill, render_partial_answers
from citeloop.prompts.refusals import NO_EVIDENCE
from citeloop.retrieval.prompt_passages import render_passages, split_background
from citeloop.retrieval.query_plan import query_from
from citeloop.state.graph_state import Passage, QueryState


class DraftPrompt(NamedTuple):
    """What the generator is sent, and the name of the prompt in the library."""

    name: str
    messages: list[BaseMessage]


def draft_prompt(state: QueryState, passages: Sequence[Passage]) -> DraftPrompt:
    """The prompt over ``passages``, by what is searched for; over the partial answers instead, where there are any.
    Blocking: the first call reads files.

    The multi-query prompts ask for document ids: there the passages' numbers are their ids.
    """
    request, queries = state["request"], state["queries"]
    question = show_question(request["question"], request.get("asked", ""))
    if partial_answers := state.get("partial_answers"):
        return cited_prompt(
            "partial_answers_combiner",
            {"question": question, "refusal": NO_EVIDENCE},
            {"partial_answers": render_partial_answers(partial_answers)},
        )
    if query_from(queries, "sub_question"):
        prompt = load_prompt("sub_answer")
        return DraftPrompt(
            prompt.name, fill(prompt, {"sub_question": question}, {"documents": render_passages(passages)})
        )
    if general := query_from(queries, "step_back"):
        specific, background = split_background(passages)
        return cited_prompt(
            "answer_with_background",
            {"question": question, "step_back_question": general},
            {"specific_docs": render_passages(specific), "background_docs": render_passages(background)},
        )
    if state["analysis"]["strategy"] == "rag_fusion":
        return cited_prompt("fusion_answer", {"question": question}, {"documents": render_passages(passages)})
    documents = [render_document(p["number"], p["title"], p["heading_path"], p["text"]) for p in passages]
    return DraftPrompt("grounded_question", grounded_answer_messages(question, documents))


def cited_prompt(name: str, texts: dict[str, str], elements: dict[str, str]) -> DraftPrompt:
    """The prompt ``name`` under the rules of citing. Blocking, as above."""
    return DraftPrompt(name, [SystemMessage(citation_system_prompt()), *fill(load_prompt(name), texts, elements)])
