"""Token counts without a model's own table (those download at first use and fail offline)."""

import re

_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_CHARACTERS_PER_TOKEN = 3.6  # English prose runs at 4.0 to 4.7 with the common tokenizers: this errs high on purpose


def count_tokens(text: str) -> int:
    """An upper-leaning estimate of the tokens of ``text`` for any common tokenizer; wide characters count as one each."""
    wide = len(_WIDE.findall(text))
    return wide + round((len(text) - wide) / _CHARACTERS_PER_TOKEN + 0.49)
