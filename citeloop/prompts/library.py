"""The one loader of prompts: a file each beside this module, placeholders as ``{{name}}``, checked when loaded.

A file of the same name in a directory of the user's own takes its place, under the same check: the directory that
``use_prompts`` was told, else the one that the environment variable ``CITELOOP_PROMPTS`` names.
"""

import logging
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
_PLACE = re.compile(r"\{\{([^{}\n]*)\}\}")
"""What somebody meant as a place, well-formed or not."""

_log = logging.getLogger(__name__)

_chosen: Path | None = None
"""The directory that ``use_prompts`` was told."""

PLACEHOLDERS: Final[dict[str, frozenset[str]]] = {
    "citation_system": frozenset(),
    "grounded_question": frozenset({"question", "documents", "refusal"}),
    "query_rewriter": frozenset({"question", "n"}),
    "fusion_answer": frozenset({"question", "documents"}),
    "decomposer": frozenset({"question"}),
    "sub_answer": frozenset({"sub_question", "documents"}),
    "combiner": frozenset({"question", "sub_questions_and_answers"}),
    "partial_answer": frozenset({"question", "documents", "n", "refusal"}),
    "partial_answers_combiner": frozenset({"question", "partial_answers", "refusal"}),
    "step_back": frozenset({"question"}),
    "follow_up": frozenset({"question", "documents", "open", "n"}),
    "query_analyzer": frozenset({"question"}),
    "standalone_question": frozenset({"question", "conversation"}),
    "relation_extractor": frozenset({"document"}),
    "support_judge": frozenset({"documents", "claims"}),
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


def use_prompts(directory: Path | None) -> None:
    """Take the prompts of this process from ``directory`` from now on, and check them all. Blocking.

    ``None``: from where the environment says. Graphs that are built already keep theirs. Raises ``ValueError`` in one
    line for a directory that is none, or a prompt in it that ``read_prompt`` refuses; nothing has changed then.
    """
    global _chosen
    wanted = directory or _from_environment()
    for name in PLACEHOLDERS:
        read_prompt(name, wanted)
    _chosen = wanted


def load_prompt(name: str) -> Prompt:
    """The prompt ``name``, as this process has it. Blocking; raises what ``read_prompt`` raises."""
    return read_prompt(name, _chosen or _from_environment())


@cache
def read_prompt(name: str, directory: Path | None) -> Prompt:
    """The prompt ``name`` of ``directory``, else the one shipped; read once a process. Blocking.

    Raises ``ValueError`` where its file and ``PLACEHOLDERS`` disagree, or a refusal that it must name is missing.
    """
    text, origin = _read(name, directory)
    found = frozenset(_PLACE.findall(text))
    if found != PLACEHOLDERS[name]:
        raise ValueError(f"prompt {origin} has the places {sorted(found)}, not {sorted(PLACEHOLDERS[name])}")
    if _REFUSALS.get(name, "") not in text:
        raise ValueError(f"prompt {origin} must name the refusal {_REFUSALS[name]!r}")
    return Prompt(name, text)


def citation_system_prompt() -> str:
    """ADR-031's CITATION_SYSTEM_PROMPT; its rule 4 names the refusal that the rest of the package knows."""
    return load_prompt("citation_system").text


def _from_environment() -> Path | None:
    named = os.environ.get(DIRECTORY_VARIABLE)
    return Path(named).expanduser() if named else None


def _read(name: str, directory: Path | None) -> tuple[str, str]:
    """Text and origin of a prompt: the user's own file, else the one shipped."""
    if directory is not None:
        _check_directory(directory)
    own = directory / f"{name}.md" if directory else None
    if own is not None and own.is_file():
        try:
            return own.read_text(encoding="utf-8-sig").strip(), str(own)  # editors write byte order marks
        except (OSError, UnicodeError) as error:
            raise ValueError(f"prompt {own} cannot be read: {error}") from None
    return files("citeloop.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8").strip(), name


@cache
def _check_directory(directory: Path) -> None:
    """Warn of files that name no prompt, once a process. Raises ``ValueError`` for a directory that is none."""
    if not directory.is_dir():
        raise ValueError(f"{directory} is no directory")
    known = sorted(f"{name}.md" for name in PLACEHOLDERS)
    try:
        names = sorted(path.name for path in directory.iterdir())
    except OSError as error:
        raise ValueError(f"{directory} cannot be read: {error}") from None
    if strangers := [name for name in names if name not in known and not name.startswith(".")]:
        _log.warning("%s: no prompt is called %s; known: %s", directory, ", ".join(strangers), ", ".join(known))
