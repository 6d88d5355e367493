"""The prompt of the grounded answer: one place builds it, so that what is counted is what is sent."""

from collections.abc import Iterable, Sequence
from html import escape

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from citeloop.prompts.library import citation_system_prompt, load_prompt
from citeloop.prompts.refusals import NO_EVIDENCE


def render_document(label: int | str, title: str, heading_path: Iterable[str], text: str) -> str:
    """One ``<document>`` element; markup characters in title, headings and text are escaped: they are data.

    ``label`` is what a citation of it holds: its number, or its id.
    """
    name = "number" if isinstance(label, int) else "id"
    shown = {name: str(label), "title": title, "section": " > ".join(heading_path)}
    attributes = " ".join(f'{key}="{escape(value)}"' for key, value in shown.items() if value or key == "title")
    return f"<document {attributes}>\n{escape(text)}\n</document>"


def grounded_answer_messages(question: str, documents: Sequence[str]) -> list[BaseMessage]:
    """System and user message for ``question`` over rendered ``documents``, in their order."""
    user = load_prompt("grounded_question").render(
        question=escape(question, quote=False), documents="\n".join(documents), refusal=NO_EVIDENCE
    )
    return [SystemMessage(citation_system_prompt()), HumanMessage(user)]
