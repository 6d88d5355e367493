"""What can be a name that people type and read."""

from unicodedata import category

_ODD = ("Cc", "Cs", "Zl", "Zp")
"""Control characters, halves of surrogate pairs (bytes that were no text), line and paragraph separators."""


def is_one_line(name: str) -> bool:
    """Whether a name can be printed within a line and stored as UTF-8; joiners and spaces of all scripts pass."""
    return not any(category(character) in _ODD for character in name)
