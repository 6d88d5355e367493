"""Markdown's code and links, as patterns: the parts of a text in which a bracket is no citation."""

# Each pattern is linear on any input: a quantifier is bounded, or stops at the character that could start it again.
FENCED_CODE = (
    r"^[ \t]*(?P<fence>`{3,}+|~{3,}+)[^`\n]*\n"
    r"(?s:.*?^[ \t]*(?P=fence)[`~]*+[ \t]*+$|.*\Z)"  # a fence left open runs to the end, as in CommonMark
)
INLINE_CODE = r"(?<!`)(?P<ticks>`{1,8})(?!`)(?:(?!\n[ \t]*\n)(?s:.)){1,500}?(?<!`)(?P=ticks)(?!`)"
_LINK_WORDS = r"(?:[^\[\]\n]++|\n(?![ \t]*+\n))*+"
LINK_TEXT = rf"{_LINK_WORDS}(?:\[{_LINK_WORDS}\]{_LINK_WORDS})?"
"""What a link shows: it may run over a line's end, and hold one pair of brackets."""
LINK_TARGET = r"\([ \t]*+<?(?:[^\s()<>]++|\([^\s()<>]*+\))++>?(?:[ \t]++\"[^\"\n]*\")?[ \t]*+\)"
"""The address may hold pairs of parentheses."""
LINK = rf"!?\[{LINK_TEXT}\]{LINK_TARGET}"
LINK_DEFINITION = r"^ {0,3}\[[^\[\]\n]++\]:[ \t]++<?(?:https?://|/|#)\S+"

OPAQUE = rf"(?m:{FENCED_CODE}|{INLINE_CODE}|{LINK}|{LINK_DEFINITION})"
"""Alternation of all of them, for use inside a larger pattern."""
