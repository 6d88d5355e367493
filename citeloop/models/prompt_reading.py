"""Reading the parts of our own prompts back out of their text. Tolerant: what is not there is empty, never an error."""

import re
from dataclasses import dataclass
from html import unescape

_DOCUMENT = re.compile(r"<document\b(?P<attributes>[^>]*)>\n?(?P<text>.*?)\n?</document>", re.DOTALL)
_ATTRIBUTE = re.compile(r"(\w+)=\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class PromptDocument:
    """A document as the prompt shows it, its escapes undone."""

    label: str
    """What a citation of it holds: ``1`` for ``[1]``, ``D7`` for ``[D7]``."""
    context: str
    """Title and headings."""
    text: str


def read_tag(prompt: str, tag: str) -> str | None:
    """The text inside the first ``<tag>...</tag>``, escapes undone; None where there is no such tag.

    What a document or a question says arrives escaped, so a tag found is always the prompt's own.
    """
    start = prompt.find(f"<{tag}>")
    end = prompt.find(f"</{tag}>", start)
    return unescape(prompt[start + len(tag) + 2 : end]).strip() if 0 <= start < end else None


def read_documents(prompt: str) -> list[PromptDocument]:
    """The ``<document>`` elements of a prompt, in order; those without a number or an id are left out."""
    return [
        PromptDocument(label, _context(attributes), unescape(match["text"]))
        for match in _DOCUMENT.finditer(prompt)
        if (label := (attributes := _attributes(match["attributes"])).get("number") or attributes.get("id"))
    ]


def _attributes(text: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}


def _context(attributes: dict[str, str]) -> str:
    """Title and headings in the order and form in which the relevance models were shown them."""
    sections = attributes.get("section", "").split(" > ")
    return " > ".join(part for part in dict.fromkeys([attributes.get("title", ""), *sections]) if part)
