"""The one loader of prompts: a file each beside this module, placeholders as ``{{name}}``, checked when loaded.

A file of the same name in the directory that the environment variable ``CITELOOP_PROMPTS`` names takes its place,
under the same check.
"""

import os
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from citeloop.prompts.refusals import NO_EVIDENCE, NOT_FOUND

DIRECTORY_VARIABLE: Final = "CITELOOP_PROMPTS"

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")

PLACEHOLDERS: Final[dict[str, frozenset[str]]] = {
    "citation_system": frozenset(),
    "grounded_question": frozenset({"question", "documents", "refusal"}),
    "query_rewriter": frozenset({"question", "n"}),
    "fusion_answer": frozenset({"question", "documents"}),
    "decomposer": frozenset({"question"}),
    "sub_answer": frozenset({"sub_question", "documents"}),
    "combiner": frozenset({"question", "sub_questions_and_answers"}),
    "step_back": frozenset({"question"}),
    "answer_with_background": frozenset({"question", "step_back_question", "background_docs", "specific_docs"}),
}
"""Every prompt with the values it takes."""

_REFUSALS: Final[dict[str, str]] = {"citation_system": NO_EVIDENCE, "sub_answer": NOT_FOUND, "combiner": NOT_FOUND}
"""Prompts that must name the refusal which the rest of the package knows."""


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

    def read(self, rendered: str) -> dict[str, str] | None:
        """The values that ``render`` was given, by name; None where ``rendered`` is another prompt. Linear.

        Values of ours are escaped, so none of them can hold the tags that stand around its place.
        """
        first, *rest = _PLACEHOLDER.split(self.text)
        if not rendered.startswith(first):
            return None
        values: dict[str, str] = {}
        start = len(first)
        for name, literal in zip(rest[::2], rest[1::2], strict=True):
            end = rendered.find(literal, start) if literal else len(rendered)
            if end < 0:
                return None
            values[name] = rendered[start:end]
            start = end + len(literal)
        return values if start == len(rendered) else None


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt ``name``, read once a process. Blocking.

    Raises ``ValueError`` where its file and ``PLACEHOLDERS`` disagree, or a refusal that it must name is missing.
    """
    text, origin = _read(name, os.environ.get(DIRECTORY_VARIABLE, ""))
    found = frozenset(_PLACEHOLDER.findall(text))
    if found != PLACEHOLDERS[name]:
        raise ValueError(f"prompt {origin} has the places {sorted(found)}, not {sorted(PLACEHOLDERS[name])}")
    if _REFUSALS.get(name, "") not in text:
        raise ValueError(f"prompt {origin} must name the refusal {_REFUSALS[name]!r}")
    return Prompt(name, text)


def citation_system_prompt() -> str:
    """ADR-031's CITATION_SYSTEM_PROMPT; its rule 4 names the refusal that the rest of the package knows."""
    return load_prompt("citation_system").text


def _read(name: str, directory: str) -> tuple[str, str]:
    """Text and origin of a prompt: the user's own file, else the one shipped."""
    if directory and not Path(directory).expanduser().is_dir():
        raise ValueError(f"{DIRECTORY_VARIABLE} is no directory: {directory}")
    own = Path(directory).expanduser() / f"{name}.md" if directory else None
    if own is not None and own.is_file():
        return own.read_text(encoding="utf-8").strip(), str(own)
    return files("citeloop.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8").strip(), name
