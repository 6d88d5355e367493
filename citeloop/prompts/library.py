"""The one loader of prompts: a file each beside this module, placeholders as ``{{name}}``, checked when loaded."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from citeloop.prompts.refusals import NO_EVIDENCE

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")

PLACEHOLDERS: Final[dict[str, frozenset[str]]] = {
    "citation_system": frozenset(),
    "grounded_question": frozenset({"question", "documents", "refusal"}),
}
"""Every prompt with the values it takes."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's text with named places to fill."""

    name: str
    text: str

    def render(self, **values: str) -> str:
        """The text with every place filled, each once and as it is: a ``{{name}}`` inside a value stays text."""
        wanted = PLACEHOLDERS[self.name]
        if values.keys() != wanted:
            raise ValueError(f"prompt {self.name} takes {sorted(wanted)}, not {sorted(values)}")
        return _PLACEHOLDER.sub(lambda match: values[match.group(1)], self.text)


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt ``name``; raises ``ValueError`` where its file and ``PLACEHOLDERS`` disagree."""
    text = files("citeloop.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
    found = frozenset(_PLACEHOLDER.findall(text))
    if found != PLACEHOLDERS[name]:
        raise ValueError(f"prompt {name} has the places {sorted(found)}, not {sorted(PLACEHOLDERS[name])}")
    return Prompt(name, text)


def citation_system_prompt() -> str:
    """ADR-031's CITATION_SYSTEM_PROMPT; its rule 4 names the refusal that the rest of the package knows."""
    text = load_prompt("citation_system").text
    if NO_EVIDENCE not in text:
        raise ValueError(f"prompt citation_system must name the refusal {NO_EVIDENCE!r}")
    return text
