"""A follow-up question made standalone without a chat model: what the turns before were about is carried over."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from citeloop.models.evidence import EvidenceJudge
from citeloop.models.prompt_reading import read_text
from citeloop.models.query_writers import keywords, names
from citeloop.prompts.conversation import Turn, read_turns
from citeloop.text.words import content_stems

_POINTS_BACK = re.compile(
    r"\b(it|its|they|them|their|theirs|he|she|him|her|his|hers|this|that|these|those|there|one|ones|here|then|such|same"
    r"|else|other|another|both)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\W*(and|or|but|so|then|also|what about|how about|what else|any|no|yes|ok|okay|sorry|i mean\w*|i meant)\b",
    re.IGNORECASE,
)
_FEWEST_STEMS = 3
"""Of a question that stands alone."""

_MOST_TURNS = 3
_MOST_WORDS = 12
_FIRST_SENTENCE = re.compile(r"[^.!?\n]{0,300}")


def write_follow_up(values: Mapping[str, str], judge: EvidenceJudge) -> str:
    """The standing question, for the prompt that asks for it."""
    return standing_question(read_text(values["question"]), read_turns(values["conversation"]))


def standing_question(question: str, turns: Sequence[Turn]) -> str:
    """``question`` with the words it leaves out in brackets behind it; as it is where it stands alone.

    They are the content words of the question before, and of those before that as long as they do not stand alone
    either; and the first name of the last answer. All come out of the turns: nothing is invented.
    """
    if not turns or stands_alone(question):
        return question
    carried = list(islice(_fresh(_carried(turns), question), _MOST_WORDS))
    return f"{question} ({' '.join(carried)})" if carried else question


def stands_alone(question: str) -> bool:
    """Whether nothing in ``question`` points back: by its words, so neither way for certain."""
    points_back = _POINTS_BACK.search(question) or _GOES_ON.match(question)
    return not points_back and len(content_stems(question)) >= _FEWEST_STEMS


def _carried(turns: Sequence[Turn]) -> Iterator[str]:
    for turn in reversed(turns[-_MOST_TURNS:]):
        yield from keywords(turn.question)
        if stands_alone(turn.question):
            break
    opening = _FIRST_SENTENCE.match(turns[-1].answer)
    yield from islice(names(opening.group() if opening else ""), 1)


def _fresh(words: Iterator[str], question: str) -> Iterator[str]:
    """Those that say something new, each once."""
    said = set(content_stems(question))
    for word in words:
        stems = set(content_stems(word))
        if stems - said:
            said |= stems
            yield word
