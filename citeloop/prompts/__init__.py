"""Prompts, one file each, and the sentences that mean "not answered". Imports nothing of ours but itself."""

from citeloop.prompts.library import citation_system_prompt, load_prompt


def __getattr__(name: str) -> str:
    if name == "CITATION_SYSTEM_PROMPT":  # read when asked for: importing a package reads no files
        return citation_system_prompt()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["CITATION_SYSTEM_PROMPT", "citation_system_prompt", "load_prompt"]
