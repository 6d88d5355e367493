"""What chat models write beside the items that they were asked for: preambles, comments, code, refusals."""

import re

_COMMENTARY = re.compile(
    r"#{1,6}(?:\s|$)|[`~]{3}|.*[:：]$|(?:note|explanation)\s*:"
    r"|(?:here(?:['’]s| is| are)|below (?:is|are)|let me know|note that"
    r"|these (?:quer|question|sub)\w*|hope (?:this|these|that|it)|i hope|together,? (?:these|they))\b"
    r"|(?:sure|certainly|of course|okay|ok)(?: thing)?(?:\W*$|\s?[,!.:;–—-](?=\s|$)| here\b)"
    r"|the following (?:is|are|\w* ?(?:quer|question|sub-?q|search|list|rewrit|alternative)\w*)"
    r"|i(?:['’]ve| have) (?:also )?(?:re|sub|de|para)?-?"
    r"(?:written|worded|phrased|generated|created|broken|split|composed|divided|provided|listed|made|come up)\b",
    re.IGNORECASE,
)
_UNABLE = r"(?:i (?:can(?:no|['’])t|won['’]t)|i['’]?(?: a)?m (?:unable|not able) to)"
_SERVICES = (
    r"(?:help|assist|answer|provide|generate|create|write|rewrite|rephrase|reword|comply|fulfil|produce|break|decompose"
    r"|split|respond|do (?:that|this|so)|with)"
)
_REFUSAL = re.compile(
    rf"{_UNABLE}(?:\W*$| (?:\w+ )?{_SERVICES}\b)|unfortunately\b|i apologi[sz]e"
    r"|i['’]?m sorry\b|(?:i am )?sorry(?:\W*$|[,.!:;]| but\b| i\b)"
    r"|as an ai(?: (?:language )?model| assistant|[,.]|$)|(?:none|null|n/?a|nil|empty)\W*$"
    r"|no (?:quer(?:y|ies)|(?:sub-?)?questions?)"
    r"(?:\W*$| (?:to|for|is|are|was|were|can|could|needed|necessary|possible)\b)",
    re.IGNORECASE,
)
_MODULES = r"(?:typing|json|re|os|sys)"
_CODE = re.compile(
    r"[\W_]*$|\w+\s*+=\s*+[\[{('\"]|print\(|def \w+\("
    rf"|from {_MODULES} import |import {_MODULES}(?:, {_MODULES})*$"
)


def is_commentary(line: str) -> bool:
    """Whether a line speaks about the items, or is a line of the program that they stand in."""
    return bool(_COMMENTARY.match(line) or _CODE.match(line))


def declines(item: str) -> bool:
    """Whether an item is a refusal to write any, not the trouble of the person who asks ("I can't log in")."""
    return _REFUSAL.match(item) is not None
