"""Reading what stands in the places of our own prompts. Tolerant: what is not there is empty, never an error."""

import re
from dataclasses import dataclass
from html import unescape

_DOCUMENT = re.compile(r"<document\b(?P<attributes>[^>]*)>\n?(?P<text>.*?)\n?</document>", re.DOTALL)
_SUB_ANSWER = re.compile(
    r"<sub_question>([^<]*)</sub_question>\s*<sub_answer>([^<]*)</sub_answer>"  # escaped: no other tag inside
)
_ATTRIBUTE = re.compile(r"(\w+)=\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class PromptDocument:
    """A document as the prompt shows it, its escapes undone."""

    label: str
    """What a citation of it holds: ``1`` for ``[1]``, ``D7`` for ``[D7]``."""
    context: str
    """Title and headings."""
    text: str


def read_text(value: str) -> str:
    """A question or an answer as it was before it was escaped."""
    return unescape(value).strip()


def read_sub_answers(elements: str) -> list[tuple[str, str]]:
    """Sub-questions with their answers, as ``prompts.multi_query.render_sub_answers`` wrote them."""
    return [(read_text(question), read_text(answer)) for question, answer in _SUB_ANSWER.findall(elements)]


def read_documents(elements: str) -> list[PromptDocument]:
    """The ``<document>`` elements in order; those without a number or an id are left out."""
    return [
        PromptDocument(label, _context(attributes), unescape(match["text"]))
        for match in _DOCUMENT.finditer(elements)
        if (label := (attributes := _attributes(match["attributes"])).get("number") or attributes.get("id"))
    ]


def _attributes(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}


def _context(attributes: dict[str, str]) -> str:
    """Title and headings in the order and form in which the relevance models were shown them."""
    sections = attributes.get("section", "").split(" > ")
    return " > ".join(part for part in dict.fromkeys([attributes.get("title", ""), *sections]) if part)
