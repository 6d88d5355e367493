"""The prompts of the multi-query patterns, filled."""

from collections.abc import Iterable, Mapping
from html import escape
from types import MappingProxyType

from langchain_core.messages import BaseMessage, HumanMessage

from citeloop.prompts.library import Prompt

_NOTHING: Mapping[str, str] = MappingProxyType({})


def fill(prompt: Prompt, texts: Mapping[str, str], elements: Mapping[str, str] = _NOTHING) -> list[BaseMessage]:
    """``prompt`` as the one message of a call.

    Markup characters in ``texts`` (questions) are escaped: they are data. ``elements`` (documents, sub-answers) are
    rendered already.
    """
    escaped = {name: escape(text, quote=False) for name, text in texts.items()}
    return [HumanMessage(prompt.render(**escaped, **elements))]


def render_sub_answers(pairs: Iterable[tuple[str, str]]) -> str:
    """Sub-questions, each with its answer, as the combiner reads them; escaped."""
    return "\n".join(
        f"<sub_question>{escape(question, quote=False)}</sub_question>\n"
        f"<sub_answer>{escape(answer, quote=False)}</sub_answer>"
        for question, answer in pairs
    )


def render_partial_answers(answers: Iterable[str]) -> str:
    """Partial answers as they are combined; escaped."""
    return "\n".join(f"<note>\n{escape(answer, quote=False)}\n</note>" for answer in answers)
