"""Parts of an answer in which a bracket is no citation: code and Markdown links."""

# Each pattern is linear on any input: a quantifier is bounded, or stops at the character that could start it again.
FENCED_CODE = (
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^`\n]*\n"
    r"(?s:.*?^[ \t]*(?P=fence)[`~]*[ \t]*$|.*\Z)"  # a fence left open runs to the end, as in CommonMark
)
INLINE_CODE = r"(?<!`)(?P<ticks>`{1,8})(?!`)(?:(?!\n[ \t]*\n)(?s:.)){1,500}?(?<!`)(?P=ticks)(?!`)"
LINK = (
    r"!?\[[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)?\]"  # the text of a link may hold one pair of brackets
    r"\([ \t]*<?[^\s()<>]+>?(?:[ \t]+\"[^\"\n]*\")?[ \t]*\)"
)
LINK_DEFINITION = r"^ {0,3}\[[^\[\]\n]+\]:[ \t]+<?(?:https?://|/|#)\S+"

OPAQUE = rf"(?m:{FENCED_CODE}|{INLINE_CODE}|{LINK}|{LINK_DEFINITION})"
"""Alternation of all of them, for use inside a larger pattern."""
